import { Status } from '../../ground/api/status.js';
import { didYouMean } from '../../ground/core/nearest.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { columnOf, featureType, type Feature, type FeatureType } from './features.js';
import { numberOf, textsOf } from './fields.js';
import type { AddedFeature } from './options.js';
import { PartitionFiles } from './partition-files.js';
import { DataSetProblem } from './problem.js';

/** A view whose history is joined. */
export interface AddedView {
  readonly view: string;
  /** The types of its keys, in its order. */
  keys: readonly string[];
  readonly features: readonly string[];
}

/** One row that was pushed to a view. */
export interface PushedRow {
  readonly view: number;
  /** The ids of its entities, as JSON. */
  readonly keys: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly stored: number;
  /** In milliseconds; null: it does not expire. */
  readonly ttl: number | null;
  /** By feature of the view; null without a value. */
  readonly values: readonly (number | string | null)[];
  readonly statuses: readonly number[];
}

/** The history of the views that are joined, by view and keys. */
export class HistoryParts {
  readonly files: PartitionFiles;
  readonly views: readonly AddedView[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #types = new Map<string, FeatureType>();
  readonly #seen = new Map<string, Set<string>>();

  constructor(folder: string, parts: number, add: readonly AddedFeature[]) {
    this.files = new PartitionFiles(folder, parts);
    const features = new Map<string, Set<string>>();
    for (const { view, feature } of add)
      features.set(view, (features.get(view) ?? new Set<string>()).add(feature));
    this.views = [...features].map(([view, names]) => ({ view, keys: [], features: [...names] }));
    this.#numbers = new Map(this.views.map(({ view }, at) => [view, at]));
  }

  add(record: DecodedRecord): void {
    const { view: name, keys: types, ttl } = record.schema.meta;
    if (typeof name !== 'string') return;
    let seen = this.#seen.get(name);
    if (seen === undefined) this.#seen.set(name, (seen = new Set()));
    const at = this.#numbers.get(name);
    const view = at === undefined ? undefined : this.views[at];
    if (at === undefined || view === undefined) return;
    for (const column of record.schema.columns) {
      const type = column.is === 'value' ? featureType(column) : undefined;
      if (type === undefined) continue;
      seen.add(column.name);
      this.#types.set(`${name}:${column.name}`, type);
    }
    if (Array.isArray(types)) view.keys = types.filter((type) => typeof type === 'string');
    const keys = JSON.stringify(textsOf(record.field('keys')));
    const cells = view.features.map((feature) => record.value(feature));
    const row: PushedRow = {
      view: at,
      keys,
      time: numberOf(record.field('time')),
      stored: numberOf(record.field('stored')),
      ttl: typeof ttl === 'number' ? ttl : null,
      values: cells.map((cell) => {
        const value = cell?.at(0);
        if (typeof value === 'boolean') return value ? 1 : 0;
        return typeof value === 'number' || typeof value === 'string' ? value : null;
      }),
      statuses: cells.map((cell) => cell?.statusAt(0) ?? Status.missing_feature),
    };
    this.files.appendJson(this.partOf(at, keys), [
      row.view,
      row.keys,
      row.time,
      row.stored,
      row.ttl,
      row.values,
      row.statuses,
    ]);
  }

  partOf(view: number, keys: string): number {
    return this.files.of(`${view} ${keys}`);
  }

  *read(part: number): Generator<PushedRow> {
    for (const line of this.files.readJson(part)) {
      const [view, keys, time, stored, ttl, values, statuses] = line as [
        number,
        string,
        number,
        number,
        number | null,
        (number | string | null)[],
        number[],
      ];
      yield { view, keys, time, stored, ttl, values, statuses };
    }
  }

  flush(): void {
    this.files.flush();
  }

  /** @throws DataSetProblem if the ledger has no history of a view or of a feature */
  check(folder: string): void {
    for (const { view, features } of this.views) {
      const known = [...(this.#seen.get(view) ?? [])];
      if (known.length === 0) {
        const others = [...this.#seen.keys()].sort();
        const found = others.length === 0 ? 'it has none' : `it has that of ${others.join(', ')}`;
        throw new DataSetProblem(
          `${folder} has no history of the view ${view}; ${found}`,
          'write history: true in the file of the view',
        );
      }
      for (const feature of features) {
        if (known.includes(feature)) continue;
        throw new DataSetProblem(
          `the history of ${view} has no feature ${feature}; it has ${known.join(', ')}`,
          didYouMean(feature, known, (guess) => `${view}:${guess}`),
        );
      }
    }
  }

  /** The columns of the features, view after view. */
  features(candidateType: string): Feature[] {
    return this.views.flatMap(({ view, keys, features }) =>
      features.map((feature): Feature => {
        const name = `${view}:${feature}`;
        const scope = keys.includes(candidateType) ? 'candidate' : 'request';
        const type = this.#types.get(name) ?? 'number';
        return { name, column: columnOf(name), type, scope, added: { view, feature } };
      }),
    );
  }
}
