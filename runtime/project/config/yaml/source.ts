import { LineCounter } from 'yaml';

/** A shorter value is not treated as a secret, because it may appear in any message by chance. */
const SHORTEST_SECRET = 6;
/** The same for a secret that the file contains. Messages quote no values there, except about broken YAML. */
const SHORTEST_HIDDEN = 3;

/** The text of a project file. Diagnostics refer to it. `path` is relative to the project, with forward slashes. */
export class SourceFile {
  #lines: LineCounter | undefined;
  /** Values of environment variables that the file's strings contain, and the names of the variables. */
  #concealed: Map<string, string> | undefined;
  /** Secrets that the file itself contains. */
  readonly #hidden: { readonly start: number; readonly end: number }[] = [];

  constructor(
    readonly path: string,
    readonly text: string,
  ) {}

  /** Keeps the value of an environment variable out of messages about the file. */
  conceal(name: string, value: string): void {
    if (value.length >= SHORTEST_SECRET) (this.#concealed ??= new Map()).set(value, name);
  }

  /** Keeps a part of the text out of messages and excerpts. */
  hide(start: number, end: number): void {
    if (start < end) this.#hidden.push({ start, end });
  }

  /** The text for excerpts: every hidden character is replaced by `*`. */
  get shown(): string {
    return this.#hidden.reduce(
      (text, { start, end }) => text.slice(0, start) + '*'.repeat(end - start) + text.slice(end),
      this.text,
    );
  }

  /** Replaces hidden parts in a message by `***`, and concealed values by the names of their variables. */
  redact(message: string): string {
    let redacted = message;
    for (const { start, end } of this.#hidden)
      if (end - start >= SHORTEST_HIDDEN) redacted = redacted.replaceAll(this.text.slice(start, end), '***');
    for (const [value, name] of this.#concealed ?? [])
      redacted = redacted.replaceAll(value, () => `\${${name}}`);
    return redacted;
  }

  /** Converts an offset to a 1-based line and column. */
  position(offset: number): { readonly line: number; readonly column: number } {
    const { line, col } = (this.#lines ??= this.#countLines()).linePos(offset);
    return { line, column: col };
  }

  /** Most files of rules that came over the API have no error, so their lines are never asked for. */
  #countLines(): LineCounter {
    const lines = new LineCounter();
    lines.addNewLine(0);
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1))
      lines.addNewLine(at + 1);
    return lines;
  }
}

/** A range of a file: offsets into its text; `end` is exclusive. */
export interface Span {
  readonly file: SourceFile;
  readonly start: number;
  readonly end: number;
}

/** A value with its place in the file. */
export interface Located<T> {
  readonly value: T;
  readonly at: Span;
}

/**
 * Returns the place of a part of a located string, by offsets into the string. The place is exact if the file
 * contains the string unchanged. Otherwise (escapes, folded lines, an interpolated variable, a default) it is the
 * whole place.
 */
export function spanWithin(text: Located<string>, start: number, end: number): Span {
  const { at } = text;
  if (at.file.text.slice(at.start, at.end) !== text.value) return at;
  return { file: at.file, start: at.start + start, end: at.start + end };
}

/** Returns the place of the key that precedes a value on its line. */
export function keyBefore(at: Span, name: string): Span {
  const start = at.file.text.lastIndexOf(name, at.start - 1);
  return start === -1 ? at : { file: at.file, start, end: start + name.length };
}
