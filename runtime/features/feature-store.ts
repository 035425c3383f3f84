import { MillraceError } from '../api/errors.js';
import type { EntityType, FeatureView } from '../config/model.js';
import { nearest } from '../api/nearest.js';
import { pointerTo, shownName, Violations } from '../api/violations.js';
import { encodeSegment, viewId } from '../store/feature-record.js';
import { featureKey } from '../store/keys.js';
import { knownLayouts } from '../store/known-layouts.js';
import { Layout } from '../store/layout.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import { StoreWriteError, type SegmentOutcome, type SegmentWrite, type Store } from '../store/store.js';
import { describe, isJsonObject, own } from '../store/value-fit.js';
import { checkRow, type FeatureRow, type RowShape } from './check-row.js';
import { EVENT_TIME, rowKeys } from './row-keys.js';

/** Most rows of a push. */
export const MAX_ROWS = 1000;

export interface FeatureStoreParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Start of every store key. */
  readonly prefix: string;
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly types: ReadonlyMap<string, EntityType>;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
}

export interface PushAnswer {
  readonly view: string;
  readonly stored: number;
  /** Rows that were not stored, since the store has one with a later event time. */
  readonly older: number;
}

interface StoredView extends RowShape {
  readonly definition: FeatureView;
  readonly id: Buffer;
}

/** The online feature store: takes rows of feature views. */
export class FeatureStore {
  readonly #store: Store;
  readonly #layouts: LayoutRegistry;
  readonly #prefix: string;
  readonly #views: ReadonlyMap<string, StoredView>;
  readonly #clock: () => number;

  constructor(parts: FeatureStoreParts) {
    this.#store = parts.store;
    this.#layouts = parts.layouts;
    this.#prefix = parts.prefix;
    this.#clock = parts.clock ?? Date.now;
    this.#views = new Map(
      Array.from(parts.views.values(), (definition) => [
        definition.name,
        {
          definition,
          view: definition.name,
          id: viewId(definition.name),
          keys: rowKeys(definition, parts.types),
          layout: knownLayouts.add(viewLayout(definition)),
        },
      ]),
    );
  }

  /** The fields of a view's rows: ids first, then features, then the event time. */
  columnsOf(viewName: string): {
    readonly keys: readonly string[];
    readonly features: FeatureView['features'];
    readonly eventTime: string;
  } {
    const view = this.#viewOf(viewName);
    return { keys: view.keys, features: view.definition.features, eventTime: EVENT_TIME };
  }

  /**
   * Body `{view, rows: [0 to 1000 of {…keys, …features, event_time?}]}`. A row replaces the view's former row of its key
   * whole, unless that has a later event time. Nothing is stored if anything is wrong with the body.
   * @throws MillraceError invalid_body, unknown_view; store_unavailable if nothing was stored, store_partial_write with
   *   `stored_rows` and `unconfirmed_rows` (positions) if some were
   */
  async push(body: unknown): Promise<PushAnswer> {
    const violations = new Violations();
    if (!isJsonObject(body)) {
      violations.add('', 'wrong_type', `expected an object with view and rows, found ${describe(body)}`);
      violations.throwIfAny('The body');
      throw new Error('unreachable');
    }
    const name = own(body, 'view');
    const rows: unknown = own(body, 'rows');
    if (typeof name !== 'string') {
      const code = name === undefined ? 'missing_field' : 'wrong_type';
      violations.add('/view', code, `view: expected the name of a feature view, found ${describe(name)}`);
    } else this.#viewOf(name);
    if (!Array.isArray(rows)) {
      const code = rows === undefined ? 'missing_field' : 'wrong_type';
      violations.add('/rows', code, `rows: expected a list, found ${describe(rows)}`);
    } else if (rows.length > MAX_ROWS) {
      violations.add('/rows', 'too_many', `rows: at most ${MAX_ROWS}, found ${rows.length}`);
    }
    violations.throwIfAny('The body');
    return this.pushRows(name as string, rows as readonly unknown[]);
  }

  /** As `push`, for any number of rows. */
  async pushRows(viewName: string, rows: readonly unknown[]): Promise<PushAnswer> {
    const view = this.#viewOf(viewName);
    const violations = new Violations();
    const now = this.#clock();
    const checked = rows.map((row, i) => checkRow(row, view, now, pointerTo('/rows', i), violations));
    violations.throwIfAny('The push');
    const outcomes = await this.#write(view, checked as readonly FeatureRow[]);
    const stored = outcomes.filter((outcome) => outcome === 'stored').length;
    return { view: view.view, stored, older: outcomes.length - stored };
  }

  async #write(view: StoredView, rows: readonly FeatureRow[]): Promise<SegmentOutcome[]> {
    if (rows.length === 0) return [];
    const { group, of } = view.definition;
    const segments = rows.map(({ ids, eventTime, features }): SegmentWrite => ({
      key: featureKey(this.#prefix, group, of, ids),
      segment: encodeSegment(view.id, view.layout, eventTime, features),
    }));
    try {
      // The layout first: in a cluster it may lie on another server than the segments that need it.
      await this.#store.write([this.#layouts.record(view.layout)]);
      return await this.#store.mergeSegments(segments);
    } catch (error) {
      throw error instanceof StoreWriteError ? pushFailure(error, rows.length) : error;
    }
  }

  #viewOf(name: string): StoredView {
    const view = this.#views.get(name);
    if (view?.definition.source !== undefined) {
      const detail = `view: the rows of ${view.view} are Feast's, and are only read; materialise them with Feast`;
      throw new MillraceError('invalid_body', detail);
    }
    if (view !== undefined) return view;
    const names = [...this.#views.keys()];
    const guess = nearest(name, names);
    const others = names.length === 0 ? 'schemas/features declares none' : `there are ${names.join(', ')}`;
    const help = guess === undefined ? others : `did you mean "${guess}"?`;
    throw new MillraceError(
      'unknown_view',
      `view: no feature view is called ${JSON.stringify(shownName(name))}; ${help}`,
    );
  }
}

/** The layout of a view's segments as the project declares it now. */
export function viewLayout(view: FeatureView): Layout {
  return new Layout(
    Array.from(view.features.values(), ({ name, type }) => [name, type] as const),
    undefined,
  );
}

function pushFailure(error: StoreWriteError, count: number): MillraceError {
  const confirmed = error.confirmed.length === count ? error.confirmed : [];
  const stored = confirmed.flatMap((isStored, i) => (isStored ? [i] : []));
  if (stored.length === 0) {
    const detail = `Whether any of ${count} rows is stored is not known; sending them again is safe. ${error.message}`;
    return new MillraceError('store_unavailable', detail, { cause: error });
  }
  const unconfirmed = confirmed.flatMap((isStored, i) => (isStored ? [] : [i]));
  return new MillraceError(
    'store_partial_write',
    `${stored.length} of ${count} rows are stored; whether the other ${unconfirmed.length} are is not known. Sending them again is safe. ${error.message}`,
    { cause: error, extensions: { stored_rows: stored, unconfirmed_rows: unconfirmed } },
  );
}
