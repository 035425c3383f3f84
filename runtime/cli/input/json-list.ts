import { isUtf8 } from 'node:buffer';
import type { JsonValue } from '../../api/types.js';
import { asRecord, InputError, jsonProblem, type BadRow, type InputRow, type RowChunk } from './rows.js';

/** A list is parsed in one piece; larger files should be JSON lines, which stream. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const ROWS_PER_CHUNK = 1000;

/** Reads a JSON list of objects; rows are numbered by their position. */
export async function* readJsonList(bytes: AsyncIterable<Buffer>): AsyncGenerator<RowChunk> {
  const list = await parseList(bytes);
  for (let from = 0; from < list.length; from += ROWS_PER_CHUNK) {
    const rows: InputRow[] = [];
    const bad: BadRow[] = [];
    for (let at = from; at < Math.min(from + ROWS_PER_CHUNK, list.length); at += 1) {
      const value = asRecord(list[at]);
      if (typeof value === 'string') bad.push({ line: at + 1, problem: value });
      else if (!isFinite(value)) bad.push({ line: at + 1, problem: 'holds a number too large to keep' });
      else rows.push({ line: at + 1, value, bytes: Buffer.byteLength(JSON.stringify(value)) });
    }
    yield { rows, bad };
  }
}

async function parseList(bytes: AsyncIterable<Buffer>): Promise<readonly unknown[]> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    parts.push(chunk);
    size += chunk.length;
    if (size > MAX_FILE_BYTES)
      throw new InputError('the list is too large to parse in one piece; write one object a line (.jsonl)');
  }
  const whole = Buffer.concat(parts);
  if (!isUtf8(whole)) throw new InputError('the file is not encoded in UTF-8');
  let parsed: unknown;
  try {
    parsed = JSON.parse(whole.toString('utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new InputError(`${jsonProblem(error)} (one object a line is .jsonl, not .json)`, { cause: error });
  }
  if (!Array.isArray(parsed))
    throw new InputError('expected a JSON list of objects (one object a line is .jsonl, not .json)');
  return parsed as unknown[];
}

/** False if a number of the value was too large for JSON to carry on (1e400 parses to Infinity). */
function isFinite(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isFinite);
}
