import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { pointerTo, Violations } from '../../ground/core/violations.js';
import { describe, misfit } from '../../ground/core/value-fit.js';
import {
  decodeSegment,
  encodeSegment,
  findSegment,
  segmentAt,
  segmentEnd,
} from '../store/codec/feature-record.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import { StoreWriteError, type SegmentOutcome, type Store } from '../store/store.js';
import { checkRow, type Arrival, type FeatureRow, type RowShape } from './check-row.js';
import type { PushedRow } from './history-records.js';
import { EVENT_TIME } from './row-keys.js';
import type { StoredView } from './stored-views.js';
import { writePortions } from './write-portions.js';

/** Most attempts to change a row that other processes change at the same time. */
const MOST_TRIES = 200;

/** What the rows of a body add to one stored row. */
export interface Increment extends Pick<FeatureRow, 'ids' | 'eventTime'> {
  readonly key: string;
  readonly amounts: ReadonlyMap<string, number>;
  /** The first row of the body that has this key. */
  readonly at: number;
}

/** Checks one row of an increment: its features are numbers. */
export function checkIncrement(
  row: unknown,
  shape: RowShape,
  arrival: Arrival,
  pointer: string,
  violations: Violations,
): FeatureRow | undefined {
  const { count } = violations;
  const checked = checkRow(row, shape, arrival, pointer, violations);
  if (checked === undefined || violations.count > count) return checked;
  const names = Object.keys(checked.features).filter((name) => isFeature(name, shape));
  if (names.length === 0)
    violations.add(pointer, 'missing_field', 'the row has no feature that it could increment');
  for (const name of names) {
    const kind = shape.features.get(name)?.type.kind;
    const value = checked.features[name] ?? null;
    if (kind !== 'int' && kind !== 'float')
      violations.add(
        pointerTo(pointer, name),
        'wrong_type',
        `${name}: only numbers can be incremented, and this feature is of type ${kind ?? 'unknown'}`,
      );
    else if (value === null)
      violations.add(
        pointerTo(pointer, name),
        'wrong_type',
        `${name}: expected a number, found ${describe(value)}`,
      );
  }
  return checked;
}

function isFeature(name: string, { keys }: RowShape): boolean {
  return name !== EVENT_TIME && !keys.includes(name);
}

/** Puts rows of the same key together, because each stored row is changed once. */
export function sumIncrements(
  rows: readonly (FeatureRow & { readonly key: string })[],
  view: StoredView,
): Increment[] {
  const byKey = new Map<string, Increment & { readonly amounts: Map<string, number> }>();
  for (const [at, { key, ids, eventTime, features }] of rows.entries()) {
    const known = byKey.get(key) ?? { key, ids, eventTime, amounts: new Map<string, number>(), at };
    for (const [name, value] of Object.entries(features))
      if (isFeature(name, view)) known.amounts.set(name, (known.amounts.get(name) ?? 0) + Number(value));
    byKey.set(key, { ...known, eventTime: Math.max(known.eventTime, eventTime) });
  }
  return [...byKey.values()];
}

/**
 * Adds to numbers of stored rows. A row is replaced only if it is still the one that was read; otherwise it is read again,
 * so that no increment of another process is lost.
 */
export class IncrementWriter {
  readonly #view: StoredView;
  readonly #store: Store;
  readonly #layouts: LayoutRegistry;
  /** By position in the increments: what the store answered. */
  readonly #outcomes: (SegmentOutcome | undefined)[] = [];
  /** The rows that were stored. */
  readonly stored: PushedRow[] = [];

  constructor(view: StoredView, store: Store, layouts: LayoutRegistry) {
    this.#view = view;
    this.#store = store;
    this.#layouts = layouts;
  }

  /**
   * @param now epoch milliseconds
   * @returns by position in the increments
   * @throws MillraceError invalid_body if a sum does not fit its feature, before anything was stored; store_busy
   * @throws StoreWriteError with the increments that are confirmed. The others may have been added
   */
  async add(increments: readonly Increment[], now: number): Promise<SegmentOutcome[]> {
    await this.#store.write([this.#layouts.record(this.#view.layout)]);
    let left = increments.map((_, i) => i);
    for (let tries = 0; left.length > 0; tries++) {
      const rows = await this.#incremented(
        left.map((i) => increments[i] as Increment),
        now,
      );
      if (tries === MOST_TRIES)
        throw new MillraceError('store_busy', 'Other processes keep changing these rows');
      try {
        const outcomes = await writePortions(
          rows,
          ({ segment }) => segment.length,
          (portion) => this.#store.mergeSegments(portion),
        );
        left = this.#keep(left, rows, outcomes);
      } catch (error) {
        if (!(error instanceof StoreWriteError)) throw error;
        this.#keep(
          left,
          rows,
          error.confirmed.map((is) => (is ? 'stored' : 'changed')),
        );
        const confirmed = increments.map((_, i) => this.#outcomes[i] !== undefined);
        throw new StoreWriteError(error.message, confirmed, error.code, { cause: error.cause });
      }
    }
    return increments.map((_, i) => this.#outcomes[i] ?? 'changed');
  }

  /** Returns the increments that must be tried again. */
  #keep(left: readonly number[], rows: readonly PushedRow[], outcomes: readonly SegmentOutcome[]): number[] {
    return left.filter((position, i) => {
      const outcome = outcomes[i] ?? 'changed';
      const row = rows[i];
      if (outcome === 'changed') return true;
      this.#outcomes[position] = outcome;
      if (outcome === 'stored' && row !== undefined) this.stored.push(row);
      return false;
    });
  }

  /** Reads the rows, and returns each with its new numbers and the row that it may replace. */
  async #incremented(
    increments: readonly Increment[],
    now: number,
  ): Promise<(PushedRow & { readonly key: string; readonly replaces: Buffer | null })[]> {
    const records = await this.#store.read(increments.map(({ key }) => key));
    const before = records.map((record) => this.#segmentIn(record));
    await this.#layouts.resolve(
      before.flatMap((segment) => (segment === null ? [] : [segmentAt(segment, 0).layoutId])),
    );
    const violations = new Violations();
    const rows = increments.map(({ key, ids, eventTime, amounts, at }, i) => {
      const replaces = before[i] ?? null;
      const time = replaces === null ? eventTime : Math.max(eventTime, segmentAt(replaces, 0).eventTime);
      const features = this.#featuresOf(replaces, now);
      for (const [name, amount] of amounts) {
        const value = Number(features[name] ?? 0) + amount;
        const type = this.#view.features.get(name)?.type;
        const problem = type === undefined ? undefined : misfit(value, type);
        if (problem !== undefined)
          violations.add(
            pointerTo('/rows', at, name),
            problem.code,
            `${name}: the sum with the stored value does not fit the feature: ${problem.detail}`,
          );
        features[name] = value;
      }
      if (violations.count > 0) return { key, ids, eventTime: time, segment: Buffer.alloc(0), replaces };
      const segment = encodeSegment(this.#view.id, this.#view.layout, time, features);
      return { key, ids, eventTime: time, segment, replaces };
    });
    violations.throwIfAny('The push');
    return rows;
  }

  #segmentIn(record: Buffer | null): Buffer | null {
    if (record === null) return null;
    const { id } = this.#view;
    const at = findSegment(record, 0, record.length, id.readInt32LE(0), id.readInt32LE(4));
    return at < 0 ? null : record.subarray(at, segmentEnd(record, at, record.length));
  }

  /** The features that a ranking reads. An expired row counts from 0, and an unreadable one is replaced. */
  #featuresOf(segment: Buffer | null, now: number): Record<string, JsonValue> {
    const features = Object.create(null) as Record<string, JsonValue>;
    if (segment === null) return features;
    const at = segmentAt(segment, 0);
    const { ttl, expired } = this.#view.definition;
    const layout = this.#layouts.get(at.layoutId);
    if (layout === undefined || (now - at.eventTime > (ttl ?? Infinity) && expired !== 'stale'))
      return features;
    let stored: JsonObject;
    try {
      stored = decodeSegment(segment, at, layout);
    } catch {
      return features;
    }
    for (const [name, value] of Object.entries(stored)) {
      const type = this.#view.features.get(name)?.type;
      if (type !== undefined && value !== null && misfit(value, type) === undefined) features[name] = value;
    }
    return features;
  }
}
