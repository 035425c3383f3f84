import { storedId } from '../../ground/core/entity-id.js';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MillraceError } from '../../ground/api/errors.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import { allFields, nullable, readFields, sizedField } from '../../ground/core/body-fields.js';
import { TYPE_BODY, unknownEntityType } from '../index/entity-index.js';
import { describe } from '../../ground/core/value-fit.js';
import { pointerTo, Violations } from '../../ground/core/violations.js';
import { allKeys, partsOf } from '../store/keys.js';
import { CursorError, StoreWriteError, type Erasure } from '../store/store.js';
import { PERSONAL_DATA } from './every-kind.js';
import { forgetInLedger, LEDGER_COUNTS } from './ledger-data.js';
import type { Forgotten, PersonalData, PrivacyParts, Removed, StoredKey } from './personal-data.js';

/** Most ids of one call. */
export const MOST_FORGOTTEN = 1000;

/** The first characters of a cursor say which part of the work comes next. */
const SCANNING = 'scan:';
const ERASING = 'files:';

export const FORGET_BODY = {
  ...TYPE_BODY,
  entity_ids: sizedField(MOST_FORGOTTEN, 'a list', { of: ' ids', few: 'too_few' }),
  cursor: nullable<string>({
    schema: { type: 'string' },
    fits: (value): value is string =>
      typeof value === 'string' && [SCANNING, ERASING].some((part) => value.startsWith(part)),
    fault: () => ({ code: 'invalid_cursor', detail: 'expected the cursor of an earlier answer' }),
  }),
};

/** About how many keys are listed at a time. Histories are read, and one may have several hundred KiB. */
const PAGE = 200;

/** How long one call works before it answers with a cursor, in milliseconds. */
const CALL_MS = 3000;

/** Most rewrites of files whose result nobody has asked for yet. */
const MOST_ERASURES = 100;

/** The names of all counts of the answer. */
export const REMOVED_COUNTS: readonly string[] = [
  ...Object.values(PERSONAL_DATA).flatMap((data) => data?.counts ?? []),
  ...LEDGER_COUNTS,
];

/** What became of the files: those of the store, and the segments of the ledger. */
type ErasedFiles = Erasure & { readonly ledger: Removed };

export interface ForgetAnswer {
  readonly entity_type: string;
  /** What this call removed, by REMOVED_COUNTS. */
  readonly removed: Readonly<Record<string, number>>;
  /** Keys of the store that this call examined. */
  readonly keys_read: number;
  /** What became of the bytes in the files of the store; `pending` until the last call. */
  readonly files: 'pending' | Erasure['files'];
  /** See `Erasure.copies`. */
  readonly copies: readonly string[];
  /** Send it with the same body again; null if all is done. */
  readonly cursor: string | null;
}

/**
 * Removes entities from everything that the store holds: it removes the records whose keys follow from the ids, then it
 * examines every key of the prefix once, and then the bytes leave the files of the store and of the ledger. What was acknowledged before
 * the first call is gone after the last one. What is written during the calls may stay.
 */
export class Forget {
  readonly #parts: PrivacyParts;
  readonly #callMs: number;
  /** Rewrites of files in progress, by the id in the cursor. */
  readonly #erasures = new Map<string, Promise<ErasedFiles>>();

  constructor(parts: PrivacyParts, callMs = CALL_MS) {
    this.#parts = parts;
    this.#callMs = callMs;
  }

  /**
   * Body `{entity_type, entity_ids: [1 to 1000 ids], cursor?}`. One call works for a few seconds; send the body again with
   * the cursor of the answer until it is null. It is idempotent.
   * @throws MillraceError invalid_body, unknown_entity_type, or with a code of STORE_WRITE_FAILURES; the call may be
   *   repeated
   */
  async run(body: unknown): Promise<ForgetAnswer> {
    const { who, cursor } = this.#read(body);
    const ends = performance.now() + this.#callMs;
    const removed = Object.fromEntries(REMOVED_COUNTS.map((name) => [name, 0]));
    const answer = (rest: Partial<ForgetAnswer>): ForgetAnswer => ({
      entity_type: who.type,
      removed,
      keys_read: read,
      files: 'pending',
      copies: [],
      cursor: null,
      ...rest,
    });
    let read = 0;
    try {
      if (cursor === undefined) await this.#forgetKnown(who, removed);
      if (cursor?.startsWith(ERASING) !== true) {
        let at = cursor?.slice(SCANNING.length);
        do {
          const page = await this.#parts.store.scan(allKeys(this.#parts.prefix), at, PAGE);
          read += page.keys.length;
          await this.#forgetKeys(page.keys, who, removed);
          at = page.cursor;
          if (at !== undefined && performance.now() > ends) return answer({ cursor: SCANNING + at });
        } while (at !== undefined);
      }
      const id = cursor?.startsWith(ERASING) === true ? cursor.slice(ERASING.length) : '';
      const erasure = await this.#erase(who, id, Math.max(0, ends - performance.now()));
      if (!('files' in erasure)) return answer({ cursor: ERASING + erasure.id });
      const { ledger, files, copies } = erasure;
      addCounts(removed, ledger);
      return answer({ files, copies });
    } catch (error) {
      throw asProblem(error);
    }
  }

  async #forgetKnown(who: Forgotten, removed: Record<string, number>): Promise<void> {
    for (const data of Object.values(PERSONAL_DATA))
      if (data !== undefined) await this.#forgetAt(data, stored(data.keysOf(who, this.#parts)), who, removed);
  }

  async #forgetKeys(keys: readonly string[], who: Forgotten, removed: Record<string, number>): Promise<void> {
    const all = stored(keys);
    for (const [kind, data] of Object.entries(PERSONAL_DATA))
      if (data !== undefined)
        await this.#forgetAt(
          data,
          all.filter(({ parts }) => parts.kind === kind),
          who,
          removed,
        );
  }

  async #forgetAt(
    data: PersonalData,
    keys: readonly StoredKey[],
    who: Forgotten,
    removed: Record<string, number>,
  ): Promise<void> {
    if (keys.length === 0) return;
    const counts = await data.forget(keys, who, this.#parts);
    addCounts(removed, counts);
  }

  /** Waits for the erasure of an earlier call, or starts one. @returns its id if it takes longer than `ms` */
  async #erase(who: Forgotten, id: string, ms: number): Promise<ErasedFiles | { readonly id: string }> {
    const known = this.#erasures.get(id);
    const key = known === undefined ? randomUUID() : id;
    const erasing = known ?? this.#eraseFiles(who);
    this.#erasures.set(key, erasing);
    erasing.catch(() => undefined); // the call that waits for it reports the failure
    const oldest = this.#erasures.keys().next().value;
    if (this.#erasures.size > MOST_ERASURES && oldest !== undefined) this.#erasures.delete(oldest);
    const stop = new AbortController();
    try {
      const done = await Promise.race([erasing, pause(ms, undefined, { signal: stop.signal })]);
      if (done === undefined) return { id: key };
    } catch (error) {
      this.#erasures.delete(key);
      throw error;
    } finally {
      stop.abort();
    }
    this.#erasures.delete(key);
    return erasing;
  }

  async #eraseFiles(who: Forgotten): Promise<ErasedFiles> {
    const [erasure, ledger] = await Promise.all([
      this.#parts.store.erase(),
      forgetInLedger(who, this.#parts),
    ]);
    return { ...erasure, ledger };
  }

  #read(body: unknown): { readonly who: Forgotten; readonly cursor: string | undefined } {
    const violations = new Violations();
    const read = readFields(body, FORGET_BODY, violations);
    const { types } = this.#parts;
    if (read.entity_type !== undefined && !types.has(read.entity_type))
      throw unknownEntityType(read.entity_type, types.keys());
    const ids: string[] = [];
    let i = 0;
    for (const id of read.entity_ids ?? []) {
      const problem = idProblem(id);
      if (problem === undefined) ids.push(idText(id) ?? '');
      else violations.add(pointerTo('/entity_ids', i), 'invalid_id', `${problem}, found ${describe(id)}`);
      i++;
    }
    const { entity_type: type, cursor } = allFields(read, violations, 'The request');
    const rule = types.get(type);
    return { who: { type, ids: new Set(ids.flatMap((id) => [id, storedId(rule, id)])) }, cursor };
  }
}

function addCounts(removed: Record<string, number>, counts: Removed): void {
  for (const [name, count] of Object.entries(counts)) removed[name] = (removed[name] ?? 0) + count;
}

function stored(keys: readonly string[]): StoredKey[] {
  return keys.flatMap((key) => {
    const parts = partsOf(key);
    return parts === undefined ? [] : [{ key, parts }];
  });
}

function asProblem(error: unknown): unknown {
  if (error instanceof StoreWriteError) {
    const detail = `Not everything is removed; it is safe to send the request again. ${error.message}`;
    return new MillraceError(error.code, detail, { cause: error });
  }
  if (!(error instanceof CursorError)) return error;
  const violations = new Violations();
  violations.add('/cursor', 'invalid_cursor', `cursor: ${error.message}`);
  try {
    violations.throwIfAny('The request');
  } catch (problem) {
    return problem;
  }
  return error;
}
