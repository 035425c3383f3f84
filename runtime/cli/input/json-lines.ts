import { parseRow, type BadRow, type InputRow, type RowChunk } from './rows.js';

/** A longer line is a bad row: no upload could carry it. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads one JSON object a line. Blank lines are skipped, a byte order mark too; the last line needs no newline. */
export async function* readJsonLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<RowChunk> {
  let line = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  let dropping = false;

  function take(part: Buffer, rows: InputRow[], bad: BadRow[]): void {
    line += 1;
    const whole = restBytes === 0 ? part : Buffer.concat([...rest, part]);
    rest = [];
    restBytes = 0;
    if (dropping || whole.length > MAX_LINE_BYTES) {
      dropping = false;
      bad.push({ line, problem: `longer than ${String(MAX_LINE_BYTES / 1024 / 1024)} MB` });
      return;
    }
    parseLine(line === 1 && whole.subarray(0, 3).equals(BOM) ? whole.subarray(3) : whole, line, rows, bad);
  }

  for await (const chunk of bytes) {
    const rows: InputRow[] = [];
    const bad: BadRow[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, at), rows, bad);
      from = at + 1;
    }
    if (from < chunk.length && !dropping) {
      rest.push(chunk.subarray(from));
      restBytes += chunk.length - from;
      if (restBytes > MAX_LINE_BYTES) {
        rest = [];
        restBytes = 0;
        dropping = true;
      }
    }
    if (rows.length + bad.length > 0) yield { rows, bad };
  }
  if (restBytes > 0 || dropping) {
    const rows: InputRow[] = [];
    const bad: BadRow[] = [];
    take(Buffer.alloc(0), rows, bad);
    yield { rows, bad };
  }
}

function parseLine(bytes: Buffer, line: number, rows: InputRow[], bad: BadRow[]): void {
  if (isBlank(bytes)) return;
  const row = parseRow(bytes, line);
  if ('value' in row) rows.push(row);
  else bad.push({ line, problem: row.problem });
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  return true;
}
