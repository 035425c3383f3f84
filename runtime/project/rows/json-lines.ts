import { isUtf8 } from 'node:buffer';
import { NOT_UTF8, parseText, type BadRow, type InputRow, type RowChunk } from './rows.js';

/** A longer line is a bad row, because no upload could contain it. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads one JSON object per line. Blank lines and a byte order mark are skipped; the last line needs no newline. All
 * lines of a chunk are decoded together, and each line is a slice of the text. Decoding line by line would take twice
 * as long and create a copy of every line for the garbage collector.
 */
export async function* readJsonLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<RowChunk> {
  const lines = new LineTaker();
  /** The start of a line whose end has not arrived yet. */
  let held: Buffer[] = [];
  let heldBytes = 0;

  function hold(part: Buffer): void {
    heldBytes += part.length;
    if (heldBytes > MAX_LINE_BYTES) held = [];
    else held.push(part);
  }

  function takeHeld(): void {
    if (heldBytes > MAX_LINE_BYTES) lines.take('', heldBytes);
    else lines.takeAll(Buffer.concat(held));
    held = [];
    heldBytes = 0;
  }

  for await (const chunk of bytes) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    let from = 0;
    if (heldBytes > 0 && end > 0) {
      from = chunk.indexOf(NEWLINE) + 1;
      hold(chunk.subarray(0, from - 1));
      takeHeld();
    }
    if (from < end) lines.takeAll(chunk.subarray(from, end));
    if (end < chunk.length) hold(chunk.subarray(end));
    yield* lines.taken();
  }
  if (heldBytes > 0) takeHeld();
  yield* lines.taken();
}

/** Counts lines and converts them to rows. */
class LineTaker {
  #line = 0;
  #rows: InputRow[] = [];
  #bad: BadRow[] = [];

  /** Reads complete lines. */
  takeAll(bytes: Buffer): void {
    if (!isUtf8(bytes)) {
      this.#takeSingly(bytes);
      return;
    }
    const text = bytes.toString('utf8');
    const ascii = text.length === bytes.length;
    for (let from = 0; from < text.length;) {
      const newline = text.indexOf('\n', from);
      const end = newline < 0 ? text.length : newline;
      const line = text.slice(from, end);
      this.take(line, ascii ? line.length : Buffer.byteLength(line));
      from = end + 1;
    }
  }

  /** Reads complete lines, some of which are not valid UTF-8. */
  #takeSingly(bytes: Buffer): void {
    for (let from = 0; from < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, from);
      const end = newline < 0 ? bytes.length : newline;
      const line = bytes.subarray(from, end);
      this.take(isUtf8(line) ? line.toString('utf8') : undefined, line.length);
      from = end + 1;
    }
  }

  /** @param text undefined if the line is not valid UTF-8 */
  take(text: string | undefined, bytes: number): void {
    this.#line += 1;
    if (bytes > MAX_LINE_BYTES) this.#refuse(`longer than ${String(MAX_LINE_BYTES / 1024 / 1024)} MB`);
    else if (text === undefined) this.#refuse(NOT_UTF8);
    else {
      const json = text.trim(); // trim() also removes a byte order mark.
      if (json === '') return;
      const row = parseText(json, this.#line, bytes);
      if ('value' in row) this.#rows.push(row);
      else this.#refuse(row.problem);
    }
  }

  #refuse(problem: string): void {
    this.#bad.push({ line: this.#line, problem });
  }

  /** Yields the rows since the last call, if there are any. */
  *taken(): Generator<RowChunk> {
    if (this.#rows.length + this.#bad.length > 0) yield { rows: this.#rows, bad: this.#bad };
    this.#rows = [];
    this.#bad = [];
  }
}
