import { MillraceError } from '../../../ground/api/errors.js';
import type { JsonObject } from '../../../ground/api/types.js';
import { nearest } from '../../../ground/core/nearest.js';
import { describe, isJsonObject, own } from '../../../ground/core/value-fit.js';
import { shownName, Violations } from '../../../ground/core/violations.js';
import { CursorError, type KeyPage, type Store } from '../../store/store.js';

/** Default number of records of a page. */
export const DEFAULT_LIMIT = 200;
/** Maximum number of records of a page. */
export const MAX_LIMIT = 1000;

/** A page of records. */
export interface ScanPage {
  /** In a form that an upload or a push accepts. */
  readonly records: readonly JsonObject[];
  /** Ids of records that cannot be read; for a composite, its ids joined by commas. */
  readonly unreadable: readonly string[];
  /** Number of records that were changed so that they can be uploaded or pushed. */
  readonly changed: number;
  /** The cursor of the next page; null if this is the last page. */
  readonly cursor: string | null;
}

export interface ScanRequest<T> {
  readonly of: T;
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** The subject that a body must name: an entity type or a view. */
interface Subject<T> {
  readonly field: 'entity_type' | 'view';
  readonly what: string;
  readonly unknown: 'unknown_entity_type' | 'unknown_view';
  readonly known: ReadonlyMap<string, T>;
}

/**
 * Reads a body `{entity_type or view, cursor?, limit?}`.
 * @throws MillraceError invalid_body, unknown_entity_type, unknown_view
 */
export function readScanRequest<T>(
  body: unknown,
  { field, what, unknown, known }: Subject<T>,
): ScanRequest<T> {
  const violations = new Violations();
  const sent: JsonObject = isJsonObject(body) ? body : {};
  if (!isJsonObject(body))
    violations.add('', 'wrong_type', `expected an object with ${field}, found ${describe(body)}`);
  const name = own(sent, field);
  if (isJsonObject(body) && typeof name !== 'string') {
    const code = name === undefined ? 'missing_field' : 'wrong_type';
    violations.add(`/${field}`, code, `${field}: expected the name of ${what}, found ${describe(name)}`);
  }
  const cursor = own(sent, 'cursor') ?? undefined;
  if (cursor !== undefined && typeof cursor !== 'string')
    violations.add('/cursor', 'wrong_type', `cursor: expected a text, found ${describe(cursor)}`);
  const limit = own(sent, 'limit') ?? DEFAULT_LIMIT;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    violations.add(
      '/limit',
      'out_of_range',
      `limit: expected a whole number from 1 to ${MAX_LIMIT}, found ${describe(limit)}`,
    );
  violations.throwIfAny('The request');
  const of = known.get(name as string);
  if (of === undefined) {
    const guess = nearest(name as string, known.keys());
    const all = [...known.keys()].join(', ');
    const help =
      guess !== undefined ? `did you mean "${guess}"?` : all === '' ? 'there is none' : `there are ${all}`;
    const kind = what.replace(/^an? /, '');
    throw new MillraceError(
      unknown,
      `${field}: no ${kind} is called ${JSON.stringify(shownName(name as string))}; ${help}`,
    );
  }
  return { of, cursor: cursor as string | undefined, limit: limit as number };
}

/** Reads a page of keys. @throws MillraceError invalid_body for an invalid cursor, store_unavailable */
export async function scanPage(
  store: Store,
  start: string,
  { cursor, limit }: Omit<ScanRequest<unknown>, 'of'>,
): Promise<KeyPage> {
  try {
    return await store.scan(start, cursor, limit);
  } catch (error) {
    if (!(error instanceof CursorError)) throw error;
    const violations = new Violations();
    violations.add('/cursor', 'invalid_cursor', `cursor: ${error.message}`);
    violations.throwIfAny('The request');
    throw error;
  }
}
