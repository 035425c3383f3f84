import type { EntityType } from '../../../project/config/model/entities.js';
import type { FeatureDefinition, FeatureView } from '../../../project/config/model/views.js';
import { ID_SCHEMA, WELL_FORMED } from '../../../ground/core/ids.js';
import { MAX_TIME_LENGTH, TIME_PATTERN } from '../../../ground/core/timestamp.js';
import { MAX_WRITTEN_ROWS } from '../../../state/index/feast-writes.js';
import { rowKeys } from '../../../state/index/row-keys.js';
import { feastFeatureName, joinKeyName } from '../../../state/index/view-names.js';
import { exampleId } from './entity-schemas.js';
import type { Schema } from './types.js';
import { exampleFields, valueSchema } from './value-schema.js';

type EntityTypes = ReadonlyMap<string, EntityType>;

const TEXT: Schema = { type: 'string', pattern: WELL_FORMED };
const TIME: Schema = { type: 'string', pattern: TIME_PATTERN, maxLength: MAX_TIME_LENGTH };
/** The latest second that a Date can hold. */
const MAX_SECONDS = 8.64e12;

/** The schema of `df`: the rows of a view as columns, by Feast's names. */
export function dfSchema(view: FeatureView, types: EntityTypes): Schema {
  const columns: (readonly [name: string, items: Schema])[] = [
    ...rowKeys(view, types).map((key, i) => [joinKeyName(view, i) ?? key, ID_SCHEMA] as const),
    ...Array.from(
      view.features.values(),
      (feature) => [feastFeatureName(view, feature.name), itemsOf(view, feature)] as const,
    ),
    ['event_timestamp', TIME],
  ];
  return {
    type: 'object',
    description:
      'A list for each column, with one value for each row: the join keys, the features, and `event_timestamp` as ISO 8601 text, ' +
      'in UTC without an offset. Other columns are ignored.',
    required: columns.map(([name]) => name),
    properties: Object.fromEntries(
      columns.map(([name, items]) => [name, { type: 'array', maxItems: MAX_WRITTEN_ROWS, items }]),
    ),
  };
}

function itemsOf({ feast }: FeatureView, { name, type }: FeatureDefinition): Schema {
  if (feast?.json.has(name) === true) return type.kind === 'list' ? { type: ['array', 'null'] } : {};
  if (type.kind !== 'timestamp') return valueSchema(type, TEXT);
  const seconds = { type: ['number', 'null'], minimum: -MAX_SECONDS, maximum: MAX_SECONDS };
  return { anyOf: [{ ...seconds, description: 'Seconds since 1970.' }, TIME] };
}

/** One row of a view as columns. */
export function exampleDf(view: FeatureView, types: EntityTypes): Schema {
  const keys = rowKeys(view, types).map(
    (key, i) => [joinKeyName(view, i) ?? key, [exampleId(view.of[i] ?? '')]] as const,
  );
  const features = Object.entries(exampleFields(view.features.values())).map(([name, value]) => {
    const isTime = view.features.get(name)?.type.kind === 'timestamp';
    return [feastFeatureName(view, name), [isTime ? (value as number) / 1000 : value]] as const;
  });
  return Object.fromEntries([...keys, ...features, ['event_timestamp', ['2026-01-01T00:00:00']]]);
}
