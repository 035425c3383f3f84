import type { JsonObject } from '../../ground/api/types.js';
import { JsonBytes } from '../../ground/core/json-bytes.js';
import { isJsonObject } from '../../ground/core/value-fit.js';
import { valueAt } from '../../ground/core/value-at.js';
import type { Engine } from './engines.js';

/** A search as a client sends it. */
export interface SentSearch {
  readonly bytes: Buffer;
  /** The query of the address; '' if there is none. */
  readonly query: string;
}

/** A search that asks for the window in place of its page. */
export interface WideSearch extends SentSearch {
  readonly body: JsonObject;
  readonly params: URLSearchParams;
  /** The page that the client asks for: the first of its hits, and how many. */
  readonly from: number;
  readonly size: number;
}

const EMPTY = Buffer.from('{}');

/**
 * Makes a search ask for the hits from the first one to the end of the window, and of its page if that is later. Only the
 * bytes of `from` and `size` change.
 * @returns why the search is passed on as it is: a word for a header
 */
export function widenSearch(engine: Engine, sent: SentSearch, window: number): WideSearch | string {
  const bytes = sent.bytes.length === 0 && engine.hasParams ? EMPTY : sent.bytes;
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch {
    return 'body';
  }
  if (!isJsonObject(body)) return 'body';
  const params = new URLSearchParams(sent.query);
  const unless = engine.unlessOf(body, params);
  if (unless !== undefined) return unless;
  const from = numberOf(engine, 'from', body, params) ?? 0;
  const size = numberOf(engine, 'size', body, params) ?? engine.defaultSize;
  if (![from, size].every((count) => Number.isSafeInteger(count) && count >= 0)) return 'body';
  if (size === 0) return 'size';
  if (from >= window) return 'window';
  const asked = withNumber(bytes, engine.size, Math.max(window, from + size));
  const wide =
    asked &&
    (from === 0 && valueAt(body, engine.from) === undefined ? asked : withNumber(asked, engine.from, 0));
  if (wide === undefined) return 'body';
  if (engine.hasParams) for (const name of ['from', 'size']) params.delete(name);
  return { bytes: wide, query: params.toString(), body, params, from, size };
}

/** NaN for what is no number. */
function numberOf(
  engine: Engine,
  key: 'from' | 'size',
  body: JsonObject,
  params: URLSearchParams,
): number | undefined {
  const given = engine.hasParams ? params.get(key) : null;
  if (given !== null) return /^\d+$/.test(given) ? Number(given) : NaN;
  const value = valueAt(body, engine[key]);
  return value === undefined ? undefined : typeof value === 'number' ? value : NaN;
}

/** The body with another number at a path; undefined if it has no object that could hold the number. */
function withNumber(bytes: Buffer, path: readonly string[], value: number): Buffer | undefined {
  const json = new JsonBytes(bytes);
  const found = json.find(path);
  if (found !== undefined)
    return Buffer.concat([
      bytes.subarray(0, found.start),
      Buffer.from(String(value)),
      bytes.subarray(found.end),
    ]);
  const parent = json.find(path.slice(0, -1));
  if (parent === undefined || bytes[parent.start] !== 0x7b) return undefined;
  const isEmpty = bytes.toString('latin1', parent.start + 1, parent.end - 1).trim() === '';
  const member = `${JSON.stringify(path.at(-1))}:${value}${isEmpty ? '' : ','}`;
  return Buffer.concat([
    bytes.subarray(0, parent.start + 1),
    Buffer.from(member),
    bytes.subarray(parent.start + 1),
  ]);
}
