import type { Column } from '../../ground/api/columns.js';
import { Status } from '../../ground/api/status.js';
import type { FeatureView } from '../../project/config/model/views.js';
import type { FeastSource } from '../../project/config/model/feast.js';
import { DefaultCells } from '../store/codec/default-cells.js';
import type { WantedFeature } from '../store/codec/feature-decoder.js';
import { decodeTime } from './feast-value.js';
import { featureField, timeField } from '../../project/config/project/feast-fields.js';
import { writeCell } from './write-cell.js';

/** The field values of one hash, in the order of the request; null for a missing field. */
export type HashValues = readonly (Buffer | null)[];

interface WantedView {
  readonly view: FeatureView;
  /** Position of the event time in the reply; the features of the view follow it. */
  readonly time: number;
  /** Columns of the features, in the order of the reply. */
  readonly indices: readonly number[];
}

/**
 * Decodes the wanted features of Feast's hashes into columns. Statuses, expiry and defaults are the same as for views
 * of the store (FeatureDecoder). A value without an event time has an unknown age, so it is expired if the view has a
 * ttl.
 */
export class FeastDecoder {
  /** The fields to read from each hash. */
  readonly fields: readonly Buffer[];
  readonly #views: readonly WantedView[];
  readonly #wanted: readonly WantedFeature[];
  readonly #defaults: DefaultCells;

  constructor(wanted: readonly WantedFeature[]) {
    this.#wanted = wanted;
    this.#defaults = new DefaultCells(wanted.map(({ feature }) => feature));
    const fields: Buffer[] = [];
    const views = new Map(wanted.map(({ view }) => [view.name, view]));
    this.#views = [...views.values()].map((view) => {
      const names = namesOf(view);
      const indices = wanted.flatMap((want, i) => (want.view.name === view.name ? [i] : []));
      const time = fields.push(timeField(names.view)) - 1;
      for (const i of indices)
        fields.push(featureField(names.view, names.feature(wanted[i]?.feature.name ?? '')));
      return { view, time, indices };
    });
    this.fields = fields;
  }

  /** Writes one row; columns are in the order of the wanted features. */
  decode(values: HashValues, columns: readonly Column[], row: number, now: number): void {
    for (const wanted of this.#views) {
      const { view, indices, time } = wanted;
      const at = eventTime(values[time]);
      const isExpired = view.ttl !== null && !(now - (at ?? NaN) <= view.ttl);
      const gone = isExpired && view.expired !== 'stale';
      for (let i = 0; i < indices.length; i++) {
        const index = indices[i] as number;
        const value = values[time + 1 + i] ?? null;
        const column = columns[index] as Column;
        if (gone && (value !== null || at !== undefined))
          this.#defaults.write(columns, index, row, view.expired === 'fail' ? Status.failed : Status.expired);
        else if (value === null) this.#defaults.write(columns, index, row, Status.missing_feature);
        else {
          writeCell(column, row, value, this.#wanted[index]?.feature.type ?? { kind: 'string' });
          const status = column.status[row] as number;
          if (status !== Status.present) this.#defaults.write(columns, index, row, status);
          else if (isExpired) column.status[row] = Status.stale;
        }
      }
    }
  }

  decodeMissing(cause: number, columns: readonly Column[], row: number): void {
    for (let i = 0; i < columns.length; i++) this.#defaults.write(columns, i, row, cause);
  }

  /** Epoch milliseconds of a view's row; undefined if there is none or it cannot be decoded. */
  eventTime(values: HashValues, viewName: string): number | undefined {
    const wanted = this.#views.find(({ view }) => view.name === viewName);
    return wanted && eventTime(values[wanted.time]);
  }
}

function eventTime(bytes: Buffer | null | undefined): number | undefined {
  if (bytes === null || bytes === undefined) return undefined;
  try {
    return decodeTime(bytes);
  } catch {
    return undefined;
  }
}

/** The names of a view and its features in Feast. */
export function namesOf(view: FeatureView): {
  readonly view: string;
  readonly feature: (name: string) => string;
} {
  const source: FeastSource | undefined = view.source;
  return { view: source?.view ?? view.name, feature: (name) => source?.fields.get(name) ?? name };
}
