import { setTimeout as pause } from 'node:timers/promises';
import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { inBackground } from '../../ground/core/background.js';
import { MOST_UNIT_BYTES, MOST_UNIT_PARTS } from '../../ground/core/large-json.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { own } from '../../ground/core/value-fit.js';
import { decodeEntity, encodeEntity } from '../store/codec/entity-record.js';
import type { RecordLayout } from '../store/codec/record-layout.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import type { RecordSwap, Store, StoreRecord, SwapOutcome } from '../store/store.js';
import { readEntity, resolveLayouts, type EntityForm } from './stored-entity.js';
import { writePortions } from './write-portions.js';

/** Most attempts to change an entity that others change at the same time. */
const MOST_TRIES = 20;
/** The keys of one round. Their records are in memory together. */
const ROUND_KEYS = 128;

/** `unknown`: the index does not have the entity, and the update does not create it. */
export type UpdateOutcome = 'updated' | 'created' | 'unknown';

/** What a body sends for one entity. */
export interface Patch extends StoreRecord {
  readonly id: string;
}

/** What the patches of a body have in common. They are encoded with the layout. */
export interface PatchForm extends EntityForm {
  readonly layout: RecordLayout;
  /** Whether an entity that the index does not have is created. */
  readonly creates: boolean;
}

interface Update extends Patch {
  readonly form: PatchForm;
  tries: number;
  readonly settle: (outcome: UpdateOutcome | Error) => void;
}

/** The updates of one key that become one write, in their order. */
interface Merge {
  readonly key: string;
  readonly updates: readonly Update[];
  /** By position in the updates, once they are merged. */
  outcomes: readonly UpdateOutcome[];
  /** Why they cannot be merged. */
  fault: Error | undefined;
  /** Undefined if there is nothing to write. */
  swap: RecordSwap | undefined;
  written: SwapOutcome | undefined;
}

/**
 * Merges attributes into stored entities. A record is replaced only if it is still the one that was read; otherwise it is
 * read again, so that no write of another process is lost. The body that updates a key first works on the key until no
 * update of it waits: updates of other bodies that arrive in the meantime become one write.
 */
export class EntityUpdates {
  readonly #layouts: LayoutRegistry;
  /** By key that a body works on: the updates that wait, in order. */
  readonly #waiting = new Map<string, Update[]>();

  constructor(layouts: LayoutRegistry) {
    this.#layouts = layouts;
  }

  /**
   * Merges patches of one key in their order. Never rejects.
   * @returns by position: the outcome, or why it is not confirmed: StoreWriteError; MillraceError with a code of
   *   STORE_READ_FAILURES, record_unreadable, body_too_large, or store_busy after `MOST_TRIES` attempts
   */
  apply(patches: readonly Patch[], form: PatchForm, store: Store): Promise<(UpdateOutcome | Error)[]> {
    return new Promise((resolve) => {
      const outcomes = new Array<UpdateOutcome | Error>(patches.length);
      const keys: string[] = [];
      let left = patches.length;
      if (left === 0) resolve(outcomes);
      for (const [i, { key, value, id }] of patches.entries()) {
        const settle: Update['settle'] = (outcome) => {
          outcomes[i] = outcome;
          if (--left === 0) resolve(outcomes);
        };
        const update = { key, value, id, form, tries: 0, settle };
        const waiting = this.#waiting.get(key);
        if (waiting === undefined) keys.push(key);
        this.#waiting.set(key, waiting ?? []);
        this.#waiting.get(key)?.push(update);
      }
      void this.#work(keys, form.layout, store);
    });
  }

  /** Works on keys until no update of them waits. Never rejects. */
  async #work(owned: readonly string[], layout: RecordLayout, store: Store): Promise<void> {
    for (let keys = owned; keys.length > 0;) {
      const merges = keys.slice(0, ROUND_KEYS).map((key) => this.#take(key));
      let failure: Error | undefined;
      try {
        await this.#round(merges, layout, store);
      } catch (error) {
        failure = asError(error);
      }
      const again = merges.filter((merge) => this.#settle(merge, failure)).map(({ key }) => key);
      keys = [...keys.slice(ROUND_KEYS), ...again];
      if (failure !== undefined) {
        for (const key of keys) this.#fail(key, failure);
        return;
      }
      const tries = Math.max(0, ...again.map((key) => this.#waiting.get(key)?.[0]?.tries ?? 0));
      // Instances that try again at one pace would disturb each other again.
      if (tries > 0) await pause(2 * tries * Math.random());
    }
  }

  /** @throws StoreWriteError; MillraceError with a code of STORE_READ_FAILURES */
  async #round(merges: readonly Merge[], layout: RecordLayout, store: Store): Promise<void> {
    const [records] = await Promise.all([
      store.read(merges.map(({ key }) => key)),
      // Readers of the records need it.
      store.write([this.#layouts.record(layout)]),
    ]);
    await resolveLayouts(this.#layouts, records);
    await inBackground(this.#mergeAll(merges, records));
    const changed = merges.filter(({ swap }) => swap !== undefined);
    let next = 0;
    await writePortions(
      changed.flatMap(({ swap }) => swap ?? []),
      ({ before, after }) => (before?.length ?? 0) + after.length,
      async (portion) => {
        for (const outcome of await store.swap(portion)) (changed[next++] as Merge).written = outcome;
        return undefined;
      },
    );
  }

  *#mergeAll(merges: readonly Merge[], records: readonly (Buffer | null)[]): Pieces<void> {
    for (const [i, merge] of merges.entries()) {
      try {
        yield* this.#merge(merge, records[i] ?? null);
      } catch (error) {
        merge.fault = asError(error);
      }
      yield;
    }
  }

  /** @throws MillraceError record_unreadable, body_too_large */
  *#merge(merge: Merge, before: Buffer | null): Pieces<void> {
    const { key, updates } = merge;
    const { form, id } = updates[0] as Update;
    let entity: JsonObject | undefined;
    if (before !== null) entity = readEntity(before, this.#layouts, form, id);
    const outcomes: UpdateOutcome[] = [];
    for (const { value, form: its } of updates) {
      yield;
      const outcome = entity !== undefined ? 'updated' : its.creates ? 'created' : 'unknown';
      outcomes.push(outcome);
      if (outcome !== 'unknown') entity = merged(entity, decodeEntity(value, its.layout, id), its.layout);
    }
    yield;
    merge.outcomes = outcomes;
    if (entity === undefined) return;
    const after = encodeEntity(form.layout, entity, id);
    const isLarge = after.length > MOST_UNIT_BYTES || Object.keys(entity).length > MOST_UNIT_PARTS;
    if (isLarge && after.length > (before?.length ?? 0)) throw tooLarge(form.name, id);
    merge.swap = { key, before, after };
  }

  #take(key: string): Merge {
    const updates = this.#waiting.get(key) ?? [];
    this.#waiting.set(key, []);
    return { key, updates, outcomes: [], fault: undefined, swap: undefined, written: undefined };
  }

  /** Settles the updates of a merge, or lets them wait for another try. @returns whether updates of the key wait */
  #settle(merge: Merge, failure: Error | undefined): boolean {
    const { key, updates, outcomes, fault, swap, written } = merge;
    const waiting = this.#waiting.get(key) ?? [];
    if (written === 'changed' && failure === undefined) {
      for (const update of updates) update.tries++;
      waiting.unshift(...updates.filter(({ tries }) => tries < MOST_TRIES));
      for (const { tries, settle, form } of updates) if (tries >= MOST_TRIES) settle(busy(form.name));
    } else {
      const isOver = swap === undefined || written === 'stored';
      for (const [i, { settle }] of updates.entries())
        settle(fault ?? (isOver ? outcomes[i] : undefined) ?? (failure as Error));
    }
    if (waiting.length === 0) this.#waiting.delete(key);
    return waiting.length > 0;
  }

  #fail(key: string, failure: Error): void {
    for (const { settle } of this.#waiting.get(key) ?? []) settle(failure);
    this.#waiting.delete(key);
  }
}

/** Merges at the top level; null removes an attribute. The two spellings of a reference are one attribute. */
function merged(entity: JsonObject | undefined, patch: JsonObject, { references }: RecordLayout): JsonObject {
  const into = (entity ?? Object.create(null)) as Record<string, JsonValue>;
  for (const { name, alternative } of references)
    if (own(patch, name) !== undefined || own(patch, alternative) !== undefined) {
      Reflect.deleteProperty(into, name);
      Reflect.deleteProperty(into, alternative);
    }
  for (const name of Object.keys(patch)) {
    const value = patch[name] ?? null;
    if (value === null) Reflect.deleteProperty(into, name);
    else into[name] = value;
  }
  return into;
}

function busy(type: string): MillraceError {
  const detail = `Others changed this ${type} at each of ${MOST_TRIES} attempts; send the update again`;
  return new MillraceError('store_busy', detail);
}

function tooLarge(entity_type: string, entity_id: string): MillraceError {
  const detail = `an entity has at most ${MOST_UNIT_BYTES} bytes and ${MOST_UNIT_PARTS} attributes, and this ${entity_type} would have more; remove attributes with null`;
  return new MillraceError('body_too_large', detail, { extensions: { entity_type, entity_id } });
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
