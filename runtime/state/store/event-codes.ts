import { MillraceError } from '../../ground/api/errors.js';
import { INTERACTION_TYPES, UNDECLARED_EVENT } from '../../ground/api/interactions.js';
import { jsonRecord } from './codec/json-record.js';
import { VERSIONED_HEAD } from './codec/versioned-record.js';
import { eventCodesKey } from './keys.js';
import type { Store } from './store.js';

/**
 * Histories hold the kind of each event as a code of one byte. The kinds of INTERACTION_TYPES have their positions there as
 * codes. Each other name gets the next free code when a service first declares it, and keeps it for as long as the store
 * exists, also if no project declares the name any more. One record of the store holds these codes:
 *
 *   head of a versioned record, without an expiry
 *   JSON {"format": 1, "codes": {"wishlist": 4, …}}
 */
const FORMAT = 1;
const CODES = 256;
const MOST_TRIES = 100;

/** The codes of some kinds of feedback in one store. */
export class EventCodes {
  readonly #byName: ReadonlyMap<string, number>;
  readonly #names: ReadonlyMap<number, string>;
  /** The record as last read or written; undefined if no name needs it. */
  #record: Buffer | undefined;

  constructor(added: ReadonlyMap<string, number>, record?: Buffer) {
    this.#byName = new Map([...INTERACTION_TYPES.map((name, code) => [name, code] as const), ...added]);
    this.#names = new Map([...this.#byName].map(([name, code]) => [code, name]));
    this.#record = record;
  }

  /** The code of a kind that was passed to `openEventCodes`. */
  codeOf(name: string): number {
    const code = this.#byName.get(name);
    if (code === undefined) throw new Error(`the kind of feedback ${name} has no code`);
    return code;
  }

  nameOf(code: number): string | undefined {
    return this.#names.get(code);
  }

  /**
   * By code: the number of the kind in plans, or UNDECLARED_EVENT.
   * @param numbers by name
   */
  numbersOf(numbers: ReadonlyMap<string, number>): Uint8Array {
    const byCode = new Uint8Array(CODES).fill(UNDECLARED_EVENT);
    for (const [name, number] of numbers) byCode[this.codeOf(name)] = number;
    return byCode;
  }

  /** True if events of this kind can be stored only while the record is in the store. */
  needsRecord(code: number): boolean {
    return code >= INTERACTION_TYPES.length;
  }

  /**
   * Checks the record before events are stored with its codes. A store that lost the record, for example because it was
   * flushed, gets it again.
   * @param record as it was read; null if the store has none
   * @throws MillraceError event_codes_conflict if the store now has other codes; StoreWriteError
   */
  async confirm(record: Buffer | null, prefix: string, store: Store): Promise<void> {
    if (this.#record === undefined || (record !== null && record.equals(this.#record))) return;
    const own = new Map([...this.#byName].filter(([, code]) => this.needsRecord(code)));
    const read = await holdCodes(store, prefix, record, (found) => {
      const differing = differingName(found, own);
      if (differing === undefined) return new Map([...found, ...own]);
      const detail = `the code of the kind \`${differing}\` has changed since this service started; restart the service`;
      throw conflict(detail);
    });
    this.#record = read.record;
  }
}

/** The codes of the kinds of a project that declares none. They need no record. */
export const DEFAULT_EVENT_CODES = new EventCodes(new Map());

/**
 * Reads the codes of kinds of feedback. Names without a code get the next free ones. Services that do this at the same
 * time agree, because the record is replaced by compare-and-swap.
 * @throws MillraceError event_codes_conflict, or with a code of STORE_READ_FAILURES; StoreWriteError
 */
export async function openEventCodes(
  store: Store,
  prefix: string,
  names: Iterable<string>,
): Promise<EventCodes> {
  const added = [...names].filter((name) => !(INTERACTION_TYPES as readonly string[]).includes(name));
  if (added.length === 0) return DEFAULT_EVENT_CODES;
  const [first = null] = await store.read([eventCodesKey(prefix)]);
  const { codes, record } = await holdCodes(store, prefix, first, (found) => withCodes(found, added));
  return new EventCodes(new Map(added.map((name) => [name, codes.get(name) ?? 0])), record);
}

/** Decodes the record; undefined if it is damaged, or of a later format. */
export function decodeEventCodes(record: Buffer): ReadonlyMap<string, number> | undefined {
  try {
    const { format, codes } = JSON.parse(record.toString('utf8', VERSIONED_HEAD)) as {
      readonly format?: unknown;
      readonly codes?: unknown;
    };
    if (format !== FORMAT || typeof codes !== 'object' || codes === null) return undefined;
    const found = new Map<string, number>();
    for (const [name, code] of Object.entries(codes as Record<string, unknown>)) {
      if (!Number.isInteger(code) || (code as number) < INTERACTION_TYPES.length || (code as number) >= CODES)
        return undefined;
      found.set(name, code as number);
    }
    return new Set(found.values()).size === found.size ? found : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Combines the codes of a backup with those of the store that it is restored into.
 * @returns the record to store
 * @throws MillraceError event_codes_conflict if a code or a name has another meaning in the store
 */
export function mergedEventCodes(stored: Buffer | null, restored: Buffer): Buffer {
  const ours = stored === null ? new Map<string, number>() : readable(stored);
  const theirs = readable(restored);
  const differing = differingName(ours, theirs);
  if (differing !== undefined)
    throw conflict(
      `the backup and the store give other codes to the kind \`${differing}\`; restore into an empty store, or under another prefix`,
    );
  return encode(new Map([...ours, ...theirs]));
}

/** A name to which two lists of codes give different codes, or whose code has another name in the first list. */
function differingName(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): string | undefined {
  const names = new Map([...one].map(([name, code]) => [code, name]));
  for (const [name, code] of other)
    if ((one.get(name) ?? code) !== code || (names.get(code) ?? name) !== name) return name;
  return undefined;
}

/** Replaces the record by `change` of it, unless that changes nothing. */
async function holdCodes(
  store: Store,
  prefix: string,
  first: Buffer | null,
  change: (codes: ReadonlyMap<string, number>) => ReadonlyMap<string, number>,
): Promise<{ readonly codes: ReadonlyMap<string, number>; readonly record: Buffer }> {
  const key = eventCodesKey(prefix);
  let before = first;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const found = before === null ? new Map<string, number>() : readable(before);
    const codes = change(found);
    if (before !== null && codes.size === found.size) return { codes, record: before };
    const after = encode(codes);
    const [outcome] = await store.swap([{ key, before, after }]);
    if (outcome === 'stored') return { codes, record: after };
    [before = null] = await store.read([key]);
  }
  throw new MillraceError('store_busy', 'Other services keep changing the codes of kinds of feedback');
}

function withCodes(
  found: ReadonlyMap<string, number>,
  names: readonly string[],
): ReadonlyMap<string, number> {
  const codes = new Map(found);
  let next = Math.max(INTERACTION_TYPES.length - 1, ...found.values());
  for (const name of names) if (!codes.has(name)) codes.set(name, ++next);
  if (next < CODES) return codes;
  throw conflict(
    `the store has given all ${CODES} codes to kinds of feedback, also to those that no project declares any more; use another prefix`,
  );
}

function readable(record: Buffer): ReadonlyMap<string, number> {
  const codes = decodeEventCodes(record);
  if (codes !== undefined) return codes;
  throw conflict(
    'the record of the codes of kinds of feedback is damaged, or of a later version of Millrace; restore it from a backup',
  );
}

function encode(codes: ReadonlyMap<string, number>): Buffer {
  return jsonRecord({ format: FORMAT, codes: Object.fromEntries(codes) });
}

function conflict(detail: string): MillraceError {
  return new MillraceError('event_codes_conflict', detail);
}
