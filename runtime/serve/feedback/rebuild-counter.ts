import { storedId } from '../../ground/core/entity-id.js';
import { eventIdentity } from '../../ground/core/event-identity.js';
import { setTimeout } from 'node:timers/promises';
import type { CounterDefinition } from '../../project/config/model/counters.js';
import type { EntityType } from '../../project/config/model/entities.js';
import type { EventKind } from '../../project/config/model/events.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { addEvents, type Touch } from '../../state/counters/apply-touches.js';
import {
  additionsOf,
  kindsOf,
  type CountedEvent,
  type KindOfCounter,
} from '../../state/counters/counted-kinds.js';
import { changeGenerations, FOLLOW_EVERY } from '../../state/counters/generation-record.js';
import { NEVER, type Building, type GenerationsOf } from '../../state/counters/generations.js';
import { keysOfEvent } from '../../state/counters/keys-of-event.js';
import { readReport } from '../../state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { readRecords } from '../../state/ledger/record-reader.js';
import { decodeCounters, encodeCounters, NO_COUNTERS } from '../../state/store/codec/counter-record.js';
import { expiryOf } from '../../state/store/codec/versioned-record.js';
import { counterKey } from '../../state/store/keys.js';
import type { StoreParts } from '../../state/index/store-parts.js';
import { followPaths, readersOf } from './count-events.js';

export interface RebuildParts extends StoreParts {
  readonly types: ReadonlyMap<string, EntityType>;
  readonly kinds: ReadonlyMap<string, EventKind>;
  /** The folder of the ledger. */
  readonly ledger: string;
  /** Whether services count feedback meanwhile. */
  readonly isShared: boolean;
  readonly clock?: () => number;
  /** Gets the number of records of the ledger that were read. */
  readonly tell?: (records: number) => void;
}

export interface Rebuilt {
  readonly counter: string;
  /** Events of the ledger that were counted. */
  readonly events: number;
  /** Records that hold them. */
  readonly keys: number;
  /** Records of the ledger that were read. */
  readonly records: number;
}

/** Within this time, every service counts for the generation that is built, too, and has written its ledger. */
const LEAD = 5 * FOLLOW_EVERY;

/** A rebuild whose process was not alive for so long was interrupted. The clocks of two machines may differ by some of it. */
const SILENT = 3 * LEAD;

/** Whether a process fills the generation. */
export function isFilled(building: Building | undefined, now: number): boolean {
  if (building === undefined || building.from === NEVER) return false;
  return now - (building.alive ?? building.from) < SILENT;
}

/** Events that are written together. */
const BATCH = 1000;

/**
 * Counts the feedback of a ledger for a counter, beside the counts that serve, and then serves the new ones. Events that
 * arrive later than a point in time are counted by the services, for both; those before it are taken from the ledger.
 * @returns undefined if another rebuild of the counter began meanwhile: services then count only for that one
 * @throws StoreWriteError; MillraceError with a code of STORE_READ_FAILURES
 */
export async function rebuildCounter(
  counter: CounterDefinition,
  parts: RebuildParts,
): Promise<Rebuilt | undefined> {
  const clock = parts.clock ?? Date.now;
  const from = clock() + (parts.isShared ? LEAD : 0);
  const { building } = await changeGenerations(parts.store, parts.prefix, counter.name, (before) => ({
    serving: before.serving,
    building: { generation: Math.max(before.serving, before.building?.generation ?? 0) + 1, from },
  }));
  const generation = building?.generation ?? 1;
  if (parts.isShared) await setTimeout(LEAD + FOLLOW_EVERY);
  const end = (change: (mine: GenerationsOf) => GenerationsOf): Promise<GenerationsOf> =>
    changeGenerations(parts.store, parts.prefix, counter.name, (before) =>
      before.building?.generation === generation ? change(before) : before,
    );
  try {
    const build = new Build(counter, generation, parts, clock);
    const report = readReport();
    let alive = clock();
    for await (const record of readRecords(parts.ledger, report)) {
      await build.add(record, from);
      if (clock() - alive >= LEAD) {
        alive = clock();
        await end(({ serving }) => ({ serving, building: { generation, from, alive } }));
      }
      parts.tell?.(report.records);
    }
    await build.write();
    const after = await end(() => ({ serving: generation }));
    if (after.serving !== generation) return undefined;
    return { counter: counter.name, events: build.events, keys: build.keys.size, records: report.records };
  } catch (error) {
    await end(({ serving }) => ({ serving, building: { generation, from: NEVER } })).catch(() => undefined);
    throw error;
  }
}

/** The entity types of a counter, and of what it tells apart, whose ids the ledger has as hashes: it cannot count them. */
export function hiddenTypes({ of, features }: CounterDefinition, hashIds: ReadonlySet<string>): string[] {
  const distinct = [...features.values()].flatMap(({ value }) =>
    value.kind === 'distinct' ? [value.of] : [],
  );
  return [...new Set([...of, ...distinct])].filter((type) => hashIds.has(type));
}

type LedgerEvent = CountedEvent & {
  readonly time: number;
  readonly subject: { readonly type: string; readonly id: string; readonly carried: JsonObject };
};

class Build {
  events = 0;
  readonly keys = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #kinds: ReadonlyMap<string, readonly KindOfCounter[]>;
  readonly #readers: ReturnType<typeof readersOf>;
  #waiting: LedgerEvent[] = [];

  constructor(
    readonly counter: CounterDefinition,
    generation: number,
    readonly parts: RebuildParts,
    readonly clock: () => number,
  ) {
    this.#kinds = kindsOf([[counter, generation]]);
    this.#readers = readersOf(new Map([[counter.name, counter]]), parts.types, parts.prefix);
  }

  async add(record: DecodedRecord, from: number): Promise<void> {
    if (record.kind !== 'feedback') return;
    const event = text(record, 'event') ?? '';
    const time = number(record, 'time');
    if (!this.#kinds.has(event) || number(record, 'received') >= from) return;
    const owners = this.#ownersOf(record);
    if (this.#isKnown(record, event, owners)) return;
    const values = new Map<string, JsonValue>();
    for (const name of this.parts.kinds.get(event)?.values.keys() ?? []) {
      const value = record.value(name)?.at(0);
      if (value !== undefined) values.set(name, value);
    }
    const subject = text(record, 'subject_type') ?? '';
    const position = number(record, 'position');
    this.#waiting.push({
      event,
      time,
      subject: {
        type: subject,
        id: this.#idOf(subject, text(record, 'subject_id') ?? ''),
        carried: carriedOf(record, subject),
      },
      owners,
      quantity: number(record, 'quantity') || 1,
      position: Number.isNaN(position) ? undefined : position,
      values,
    });
    if (this.#waiting.length >= BATCH) await this.write();
  }

  #ownersOf(record: DecodedRecord): LedgerEvent['owners'] {
    const { owners = [] } = record.schema.meta as { readonly owners?: readonly string[] };
    return owners.flatMap((type) => {
      const id = record.value(type)?.at(0);
      return typeof id === 'string' ? [{ type, id: this.#idOf(type, id) }] : [];
    });
  }

  /** The ledger can be older than the rule of the type. */
  #idOf(type: string, id: string): string {
    return storedId(this.parts.types.get(type), id);
  }

  /**
   * An event is in the ledger as often as it was sent. The first record may be a `duplicate`: that of an event that was
   * stored and answered with an error.
   */
  #isKnown(record: DecodedRecord, event: string, owners: LedgerEvent['owners']): boolean {
    const [id, request] = [text(record, 'event_id'), text(record, 'request_id')];
    const about = [event, text(record, 'subject_type') ?? '', text(record, 'subject_id') ?? ''];
    const whose = owners.map((owner) => [owner.type, owner.id]);
    const identity = eventIdentity({ id, request, time: number(record, 'time') }, about, whose);
    if (this.#seen.has(identity)) return true;
    this.#seen.add(identity);
    return false;
  }

  async write(): Promise<void> {
    const events = this.#waiting;
    this.#waiting = [];
    const { parts, counter } = this;
    const now = this.clock();
    const followed = await followPaths(events, this.#readers, parts, now);
    const touches = new Map<string, Touch[]>();
    for (const event of events) {
      const keys = keysOfEvent(counter, event, followed.get(event) ?? (() => []), parts.prefix);
      if (keys.length === 0) continue;
      this.events++;
      const touch = (key: string, series: KindOfCounter['entity']): void => {
        const additions = additionsOf(series, event);
        if (additions.length === 0) return;
        const one = { identity: [0, 0] as const, time: event.time, additions };
        touches.set(key, [...(touches.get(key) ?? []), one]);
      };
      for (const { entity, all } of this.#kinds.get(event.event) ?? []) {
        for (const key of keys) touch(key, entity);
        if (all.length > 0) touch(counterKey(parts.prefix, [], []), all);
      }
    }
    for (const key of touches.keys()) this.keys.add(key);
    await this.#store(touches, now);
  }

  async #store(touches: Map<string, Touch[]>, now: number): Promise<void> {
    const { store } = this.parts;
    const left = new Map(touches);
    while (left.size > 0) {
      const keys = [...left.keys()];
      const records = await store.read(keys);
      const swaps = keys.map((key, i) => {
        const before = records[i] ?? null;
        const counters = (before === null ? undefined : decodeCounters(before)) ?? NO_COUNTERS;
        const { record, expires } = addEvents(counters, left.get(key) ?? [], now);
        const until = Math.max(expires, before === null ? 0 : expiryOf(before));
        return { key, before, after: encodeCounters(record, until) };
      });
      const outcomes = await store.swap(swaps);
      keys.forEach((key, i) => {
        if (outcomes[i] === 'stored') left.delete(key);
      });
    }
  }
}

/** The attributes that the record of an event has of the entity that the event is about: see `recordedAttributes`. */
function carriedOf(record: DecodedRecord, subject: string): JsonObject {
  const own = record.schema.columns.filter(
    ({ is, name }) => is === 'value' && name.startsWith(`${subject}.`),
  );
  return Object.fromEntries(
    own.flatMap(({ name }): [string, JsonValue][] => {
      const found = record.value(name)?.at(0);
      return found === undefined ? [] : [[name.slice(subject.length + 1), found]];
    }),
  );
}

function text(record: DecodedRecord, name: string): string | undefined {
  const value = record.field(name)?.at(0);
  return typeof value === 'string' ? value : undefined;
}

/** NaN without a number. */
function number(record: DecodedRecord, name: string): number {
  return record.field(name)?.numberAt(0) ?? NaN;
}
