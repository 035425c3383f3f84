import type { OutboundAnswer } from '../api/http-client.js';
import type { Found } from '../api/retriever.js';
import { idText } from '../core/ids.js';
import { valueAt } from '../core/value-at.js';

/** A message quotes so many bytes of an error answer. */
const QUOTED_BYTES = 200;

/** Numbers of a hit that no path leads to. */
export interface HitNumbers {
  /** By output: its value in a hit for which `read` sets none. */
  readonly outputs: Readonly<Record<string, number>>;
  read(hit: unknown, set: (output: string, value: number) => void): void;
}

/** Where the candidates of an answer are. A part of a path is a key, or a position from 0. */
export interface HitPaths {
  /** The path of the list of hits, best first. */
  readonly hits: string;
  /** The path of the candidate's id in a hit: a text or a whole number. */
  readonly id: string;
  /** By output: the path of a number in a hit. */
  readonly outputs: Readonly<Record<string, string>>;
  /** The answer is not whole if a value at one of these paths is true or a number above 0. */
  readonly partial: readonly string[];
}

/** Reads the candidates of an answer. */
export class HitReader {
  readonly #hits: readonly string[];
  readonly #id: readonly string[];
  readonly #outputs: readonly (readonly [name: string, path: readonly string[]])[];
  readonly #partial: readonly string[];

  constructor(
    { hits, id, outputs, partial }: HitPaths,
    private readonly more?: HitNumbers,
  ) {
    this.#hits = hits.split('.');
    this.#id = id.split('.');
    this.#outputs = Object.entries(outputs).map(([name, path]) => [name, path.split('.')]);
    this.#partial = partial;
  }

  /** @throws Error if the status is not 200, or the answer has no list of hits with ids */
  read({ status, body }: OutboundAnswer, most: number): Found {
    if (status !== 200) throw new Error(describe(status, body));
    const answer = parsed(body);
    const list = valueAt(answer, this.#hits);
    if (!Array.isArray(list)) throw new Error(`the answer has no list at \`${this.#hits.join('.')}\``);
    const hits = list.slice(0, most) as readonly unknown[];
    const ids: string[] = [];
    const columns = Object.fromEntries(this.#outputs.map(([name]) => [name, new Float64Array(hits.length)]));
    for (const [name, value] of Object.entries(this.more?.outputs ?? {}))
      columns[name] = new Float64Array(hits.length).fill(value);
    const set = (name: string, value: number): void => {
      (columns[name] as Float64Array)[ids.length] = value;
    };
    for (const hit of hits) {
      const id = idText(valueAt(hit, this.#id));
      if (id === undefined || id === '') continue;
      for (const [name, path] of this.#outputs) set(name, numberOf(valueAt(hit, path)));
      this.more?.read(hit, set);
      ids.push(id);
    }
    const lost = hits.length - ids.length;
    const where = `\`${this.#id.join('.')}\``;
    if (lost > 0 && ids.length === 0) throw new Error(`no hit has an id at ${where}`);
    const partial = this.#partial.find((path) => isSet(valueAt(answer, path.split('.'))));
    const problem =
      partial !== undefined
        ? `the answer is not whole: \`${partial}\` is set`
        : lost > 0
          ? `${lost} of ${hits.length} hits have no id at ${where}`
          : undefined;
    return { ids, columns, ...(problem === undefined ? {} : { problem }) };
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Error('the answer is not JSON');
  }
}

function describe(status: number, body: Buffer): string {
  if (status >= 300 && status < 400)
    return `the server answered ${status}, a redirect, which is not followed`;
  const said = body.toString('utf8', 0, QUOTED_BYTES).replaceAll(/\s+/g, ' ').trim();
  return `the server answered ${status}${said === '' ? '' : `: ${said}`}`;
}

/** NaN for other values than numbers and booleans. */
function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : NaN;
}

function isSet(value: unknown): boolean {
  return value === true || (typeof value === 'number' && value > 0);
}
