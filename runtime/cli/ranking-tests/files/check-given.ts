import type { EntityType } from '../../../project/config/model/entities.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { Span } from '../../../project/config/yaml/source.js';
import { viewsOfCounters } from '../../../project/config/project/load-counters.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import { EVENT_TIME, rowKeys } from '../../../state/index/row-keys.js';
import { entriesIn, itemsIn, member, textIn, type Placed } from './placed.js';

/** Checks the names under `given: entities:` and `given: features:`. Values are checked when they are stored. */
export function checkGiven(
  given: Placed | undefined,
  { entities, views, counters }: Pick<ProjectConfig, 'entities' | 'views' | 'counters'>,
  diagnostics: Diagnostics,
): void {
  for (const [name, { keyAt, value }] of entriesIn(member(given, 'entities'))) {
    const type = entities.get(name);
    if (type === undefined) {
      const help = suggestion(name, entities.keys(), `declare it in schemas/entities/${name}.yaml`);
      diagnostics.error('unknown_entity', keyAt, `there is no entity type \`${name}\``, help);
      continue;
    }
    checkFields(value, fieldsOf(type), 'unknown_attribute', `\`${name}\` has no attribute`, diagnostics);
    checkKeys(value, [type.key], 'entity', diagnostics);
  }
  const rows = new Map([...views, ...viewsOfCounters(counters)]);
  for (const [name, { keyAt, value }] of entriesIn(member(given, 'features'))) {
    const view = rows.get(name);
    if (view === undefined) {
      const otherwise = `declare it in schemas/features/${name}.yaml or schemas/counters/${name}.yaml`;
      const help = suggestion(name, rows.keys(), otherwise);
      diagnostics.error('unknown_view', keyAt, `there is no feature view or counter \`${name}\``, help);
      continue;
    }
    const what = view.counter === undefined ? 'view' : 'counter';
    const keys = rowKeys(view, entities);
    const fields = [...keys, ...view.features.keys(), EVENT_TIME];
    checkFields(value, fields, 'unknown_feature', `the ${what} \`${name}\` has no feature`, diagnostics);
    checkKeys(value, keys, 'row', diagnostics);
  }
}

/** The fields of an entity of a type. A reference may be written with or without `_id`. */
function fieldsOf({ key, attributes }: EntityType): string[] {
  return [
    key,
    ...Array.from(attributes.values()).flatMap(({ name, type }) =>
      type.kind === 'ref' ? [name, `${name}_id`] : [name],
    ),
  ];
}

function checkFields(
  list: Placed,
  known: readonly string[],
  code: 'unknown_attribute' | 'unknown_feature',
  problem: string,
  diagnostics: Diagnostics,
): void {
  for (const item of itemsIn(list))
    for (const [field, { keyAt }] of entriesIn(item))
      if (!known.includes(field))
        diagnostics.error(
          code,
          keyAt,
          `${problem} \`${field}\``,
          suggestion(field, known, `it has ${known.join(', ')}`),
        );
}

/** Reports items without a key, and items with the key of an earlier item. */
function checkKeys(
  list: Placed,
  keys: readonly string[],
  what: 'entity' | 'row',
  diagnostics: Diagnostics,
): void {
  const seen = new Map<string, Span>();
  for (const item of itemsIn(list)) {
    if (item.kind !== 'map') continue; // reported with the shape
    const ids = keys.map((key) => textIn(member(item, key)));
    const missing = keys.filter((_, i) => ids[i] === undefined);
    if (missing.length > 0) {
      const names = missing.map((key) => `\`${key}\``).join(' and ');
      diagnostics.error('missing_key', item.at, `the ${what} has no ${names}`, `add ${names}`);
      continue;
    }
    const id = JSON.stringify(ids);
    const first = seen.get(id);
    const at = keys.length === 0 ? item.at : (member(item, keys[0] ?? '')?.at ?? item.at);
    if (first !== undefined)
      diagnostics.error(
        'duplicate_name',
        at,
        keys.length === 0 ? 'a view without a key has one row' : `\`${ids.join(', ')}\` is in the list twice`,
        `the other is at line ${first.file.position(first.start).line}; remove one of the two`,
      );
    seen.set(id, first ?? at);
  }
}

/** "did you mean", or else what to do. */
export function suggestion(name: string, known: Iterable<string>, otherwise: string): string {
  return didYouMean(name, known) ?? otherwise;
}
