import { LineCounter } from 'yaml';

/** A shorter value is no secret, and its letters may stand in any message. */
const SHORTEST_SECRET = 6;

/** A file of a project as text; diagnostics point into it. `path` is relative to the project, with forward slashes. */
export class SourceFile {
  readonly lines: LineCounter;
  /** Values of environment variables that stand in the file's texts, and the variables' names. */
  readonly #concealed = new Map<string, string>();

  constructor(
    readonly path: string,
    readonly text: string,
  ) {
    this.lines = new LineCounter();
    this.lines.addNewLine(0);
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
      this.lines.addNewLine(at + 1);
  }

  /** Keeps the value of an environment variable out of messages about the file. */
  conceal(name: string, value: string): void {
    if (value.length >= SHORTEST_SECRET) this.#concealed.set(value, name);
  }

  /** A message about the file, with names in place of what was concealed. */
  redact(message: string): string {
    let told = message;
    for (const [value, name] of this.#concealed) told = told.replaceAll(value, () => `\${${name}}`);
    return told;
  }

  /** 1-based line and column of an offset. */
  position(offset: number): { readonly line: number; readonly column: number } {
    const { line, col } = this.lines.linePos(offset);
    return { line, column: col };
  }
}

/** A stretch of a file: offsets into its text, `end` exclusive. */
export interface Span {
  readonly file: SourceFile;
  readonly start: number;
  readonly end: number;
}

/** A value together with the place that it was written at. */
export interface Located<T> {
  readonly value: T;
  readonly at: Span;
}

/**
 * The place of a stretch of a located text, by offsets into the text. Exact where the file has the text as it is;
 * elsewhere (escapes, folded lines, an interpolated variable, a default) the whole place.
 */
export function spanWithin(text: Located<string>, start: number, end: number): Span {
  const { at } = text;
  if (at.file.text.slice(at.start, at.end) !== text.value) return at;
  return { file: at.file, start: at.start + start, end: at.start + end };
}

/** The key that stands before a value on its line. */
export function keyBefore(at: Span, name: string): Span {
  const start = at.file.text.lastIndexOf(name, at.start - 1);
  return start === -1 ? at : { file: at.file, start, end: start + name.length };
}
