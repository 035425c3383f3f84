import type { JsonObject } from '../../../ground/api/types.js';
import { nullable, textField, wholeField, type BodyOf } from '../../../ground/core/body-fields.js';
import { Violations } from '../../../ground/core/violations.js';
import { CursorError, type KeyPage, type Store } from '../../store/store.js';

/** Default number of records of a page. */
const DEFAULT_LIMIT = 200;
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

/** The fields of a body that choose the page. */
export const PAGE_BODY = { cursor: nullable(textField()), limit: nullable(wholeField(1, MAX_LIMIT)) };

/** Reads a page of keys. @throws MillraceError invalid_body for an invalid cursor, store_unavailable */
export async function scanPage(
  store: Store,
  start: string,
  { cursor, limit = DEFAULT_LIMIT }: BodyOf<typeof PAGE_BODY>,
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
