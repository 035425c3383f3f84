import type { Pieces } from './pieces.js';

/** Text is converted to bytes in chunks of about this many characters. */
const CHUNK = 64 * 1024;
/** Lists and objects down to this depth are written element by element, with a pause after each element. */
const LEVELS = 2;

/** The JSON text of a large value, as bytes. `writeJson` copies it into a larger value without a change. */
export class JsonText<T = unknown> {
  /** Bytes. */
  readonly length: number;

  constructor(readonly chunks: readonly Buffer[]) {
    this.length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  /** Parses the value, for JSON.stringify and for callers that do not use HTTP. */
  toJSON(): T {
    return JSON.parse(Buffer.concat(this.chunks).toString('utf8')) as T;
  }
}

/** Collects text and shared bytes in order. */
export class JsonWriter {
  readonly #chunks: Buffer[] = [];
  #text = '';

  write(text: string): void {
    this.#text += text;
    if (this.#text.length >= CHUNK) this.#flush();
  }

  /** Adds bytes without copying them. Several texts may share the same bytes. */
  add({ chunks }: JsonText): void {
    this.#flush();
    this.#chunks.push(...chunks);
  }

  /** Returns the text. The caller knows its type. */
  end<T = unknown>(): JsonText<T> {
    this.#flush();
    return new JsonText<T>(this.#chunks);
  }

  #flush(): void {
    if (this.#text === '') return;
    this.#chunks.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

/**
 * Writes a plain JSON value as JSON.stringify does. Each piece of work is one element of the outer lists and objects.
 */
export function* writeJson(value: unknown): Pieces<JsonText> {
  if (value instanceof JsonText) return value;
  const writer = new JsonWriter();
  yield* write(writer, value, LEVELS);
  return writer.end();
}

function* write(writer: JsonWriter, value: unknown, levels: number): Pieces<void> {
  if (value instanceof JsonText) writer.add(value);
  else if (levels === 0 || typeof value !== 'object' || value === null)
    writer.write(value === undefined ? 'null' : JSON.stringify(value));
  else if (Array.isArray(value)) {
    writer.write('[');
    for (let i = 0; i < value.length; i++) {
      if (i > 0) writer.write(',');
      yield* write(writer, value[i], levels - 1);
      yield;
    }
    writer.write(']');
  } else {
    let separator = '{';
    for (const name of Object.keys(value)) {
      const one: unknown = (value as Record<string, unknown>)[name];
      if (one === undefined) continue;
      writer.write(`${separator}${JSON.stringify(name)}:`);
      separator = ',';
      yield* write(writer, one, levels - 1);
      yield;
    }
    writer.write(separator === '{' ? '{}' : '}');
  }
}
