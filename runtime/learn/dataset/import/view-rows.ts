import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { isKnown } from '../../../ground/api/status.js';
import type { IdHasher } from '../../../ground/core/id-hasher.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { FeatureView } from '../../../project/config/model/views.js';
import type { Plan } from '../../../request/compile/plan.js';
import { readRecords } from '../../../state/ledger/record-reader.js';
import { numberOf, textsOf } from '../fields.js';

/** A row of a view, with the time from which it is known. */
export interface ViewRow {
  readonly is: 'row';
  readonly view: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** As it is pushed. */
  readonly row: JsonObject;
}

/** The views that a plan reads and whose rows the ledger records. */
export function recordedViews({ levels }: Plan, hasher: IdHasher): ReadonlyMap<string, FeatureView> {
  const views = levels.flatMap(({ features }) => features.flatMap(({ wants }) => wants));
  return new Map(
    views.flatMap(({ feature: { view } }) =>
      // The ids of hashed rows cannot be looked up.
      view.history === true && !view.of.some((type) => hasher.hides(type)) ? [[view.name, view]] : [],
    ),
  );
}

/**
 * Reads the rows that the ledger has of views. When they were stored does not matter: the other system did not wait for
 * this store.
 * @param folder of the ledger
 */
export async function* readViewRows(
  folder: string,
  views: ReadonlyMap<string, FeatureView>,
  types: ReadonlyMap<string, EntityType>,
): AsyncGenerator<ViewRow> {
  if (views.size === 0) return;
  for await (const record of readRecords(folder)) {
    const { view: name } = record.schema.meta;
    const view = record.kind === 'history' && typeof name === 'string' ? views.get(name) : undefined;
    if (view === undefined) continue;
    const time = numberOf(record.field('time'));
    const ids = textsOf(record.field('keys'));
    const keys = view.of.map((type, at): [string, JsonValue] => [
      types.get(type)?.key ?? `${type}_id`,
      ids[at] ?? '',
    ]);
    const features = [...view.features.keys()].flatMap((feature): [string, JsonValue][] => {
      const cells = record.value(feature);
      const value = cells !== undefined && isKnown(cells.statusAt(0)) ? cells.at(0) : undefined;
      return value === undefined ? [] : [[feature, value]];
    });
    yield {
      is: 'row',
      view: view.name,
      time,
      row: Object.fromEntries([...keys, ...features, ['event_time', time]]),
    };
  }
}
