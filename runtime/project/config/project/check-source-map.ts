import { isMap, isSeq } from 'yaml';
import type { Section } from '../yaml/section.js';
import { locatedText, spanOf } from '../yaml/tree.js';
import type { SourceDefinition } from '../model/sources.js';
import { FEEDBACK_COLUMNS, isReadyMap, READY_MAPS } from './ready-maps.js';
import { help, type SourceNames } from './source-names.js';

/** Keys that only have a meaning beside a map of columns of feedback; `positions_from` also beside most ready maps. */
const COLUMN_KEYS = ['event', 'values', 'where', 'positions_from'] as const;

/** Checks how the messages of a source are read: the map, and the keys that belong to it. */
export function checkSourceMap(
  section: Section<'source'>,
  source: SourceDefinition,
  names: SourceNames,
): void {
  const { map, into, file } = source;
  const { diagnostics } = section;
  const mapNode = section.value('map');
  const hasColumns = typeof map === 'object' && into.kind === 'feedback';
  const hasPositions = typeof map === 'string' && map !== 'metarank' && into.kind === 'feedback';
  for (const key of COLUMN_KEYS) {
    if (section.value(key) !== undefined && !hasColumns && !(key === 'positions_from' && hasPositions))
      diagnostics.error(
        'unknown_key',
        section.keyAt(key),
        `\`${key}\` has a meaning only beside a \`map\` of columns, with \`into: feedback\``,
        typeof map === 'string' ? `\`map: ${map}\` knows it already; remove the key` : 'remove the key',
      );
  }
  if (map === undefined || mapNode === undefined) return;
  const at = locatedText(file, mapNode)?.at ?? spanOf(file, mapNode);
  if (into.kind === 'features') {
    diagnostics.error(
      'unknown_key',
      section.keyAt('map'),
      '`map` has no meaning with `into: features`',
      'rows have the form of a push: the keys of the view, its features and event_time (docs/sources.md)',
    );
    return;
  }
  if (source.about === '') {
    // A type that does not exist is reported already.
    if (section.value('about') !== undefined) return;
    diagnostics.error(
      'missing_key',
      at,
      'the pipelines rank entities of several types, or none, so the map does not tell what events are about',
      'add the key `about`, for example `about: product`',
    );
    return;
  }
  if (typeof map === 'string') {
    if (isReadyMap(map)) {
      if (into.kind === 'entities' && map !== 'metarank')
        diagnostics.error(
          'wrong_type',
          at,
          `\`map: ${map}\` has no events of entities`,
          'only metarank has; or name the column of the id, for example `map: { product: item_id }`',
        );
    } else
      diagnostics.error(
        'wrong_type',
        at,
        `\`map\`: there is no ready map \`${map}\``,
        help(map, READY_MAPS, 'write columns by name, or one of'),
      );
    return;
  }
  if (!isMap(mapNode)) return;
  if (into.kind === 'entities') checkEntityMap(section, source, names);
  else checkFeedbackMap(section, source, names);
}

function checkEntityMap(section: Section<'source'>, { into }: SourceDefinition, names: SourceNames): void {
  const { diagnostics } = section;
  const [first, ...others] = section.entries('map');
  const wanted = into.name ?? first?.key;
  for (const { key, keyAt } of others)
    diagnostics.error(
      'unknown_key',
      keyAt,
      `\`map\` of entities has one entry, the entity type and the column of its id; \`${key}\` is one too many`,
      'all other columns become attributes by their names',
    );
  if (first === undefined || (first.key === wanted && names.entityNames.has(first.key))) return;
  diagnostics.error(
    'unknown_entity',
    first.keyAt,
    into.name === undefined
      ? `there is no entity type \`${first.key}\``
      : `\`map\`: expected \`${into.name}\`, the type that the source writes, found \`${first.key}\``,
    into.name === undefined
      ? help(first.key, names.entityNames, 'the types are')
      : `for example \`map: { ${into.name}: id }\``,
  );
}

function checkFeedbackMap(section: Section<'source'>, source: SourceDefinition, names: SourceNames): void {
  const { diagnostics } = section;
  const { about, event } = source;
  const keys = section.entries('map');
  const columns: readonly string[] = FEEDBACK_COLUMNS;
  for (const { key, keyAt } of keys)
    if (!columns.includes(key) && !names.entityNames.has(key))
      diagnostics.error(
        'unknown_entity',
        keyAt,
        `\`map\`: \`${key}\` is no column of feedback, and there is no entity type of this name`,
        help(key, [...columns, ...names.entityNames], 'columns are'),
      );
  const has = (key: string): boolean => keys.some((one) => one.key === key);
  const unknown = keys.some(({ key }) => !columns.includes(key) && !names.entityNames.has(key));
  const missing = (message: string, remedy: string): void =>
    diagnostics.error('missing_key', section.keyAt('map'), message, remedy);
  if (!has(about) && !unknown)
    missing(`\`map\` has no \`${about}\``, 'it names the column with the id that an event is about');
  if (!unknown && !has('request') && !keys.some(({ key }) => key !== about && names.entityNames.has(key)))
    diagnostics.warning(
      'missing_key',
      section.keyAt('map'),
      `\`map\` names nobody that the events belong to, so they count for \`${about}\` in counters, and in no user's history`,
      'add the column of the user, for example `user: user_id`',
    );
  if (event === undefined && !has('type'))
    missing(
      'nothing says which kind of feedback the messages are',
      'add `event: click`, or a column `type` to `map`',
    );
  if (typeof event === 'object' && !has('type'))
    missing('`map` has no `type`', 'it names the column whose values are under `event`');
  checkKinds(section, source, names);
}

/** The values of the column `type` that `where` lets through; undefined if it does not look at this column. */
export function keptTypes({
  map,
  where,
}: Pick<SourceDefinition, 'map' | 'where'>): ReadonlySet<string> | undefined {
  const column = typeof map === 'object' ? [map['type']].flat()[0] : undefined;
  const values = column === undefined ? undefined : where[column];
  return values === undefined ? undefined : new Set(values);
}

function checkKinds(section: Section<'source'>, source: SourceDefinition, { events }: SourceNames): void {
  const { file, diagnostics } = section;
  const { event } = source;
  const kinds =
    typeof event === 'object'
      ? section.entries('event').map(({ value }) => locatedText(file, value))
      : [section.located('event')];
  for (const kind of kinds)
    if (kind !== undefined && kind.value !== 'null' && !events.has(kind.value))
      diagnostics.error(
        'unknown_event',
        kind.at,
        `there is no kind of feedback \`${kind.value}\``,
        help(kind.value, events.keys(), 'declare it under `events` in millrace.yaml; the kinds are'),
      );
  const kept = keptTypes(source);
  if (kept !== undefined && kept.size > 0 && typeof event === 'object')
    for (const { key, keyAt } of section.entries('event'))
      if (event[key] !== null && !kept.has(key))
        diagnostics.warning(
          'unreached',
          keyAt,
          `no message is read as \`${key}\`: \`where\` only lets ${[...kept].join(', ')} through`,
          `add \`${key}\` to the values under \`where\`, or remove it here`,
        );
  const declared = [...events.values()].flatMap(({ values }) => [...values.keys()]);
  for (const { key, keyAt } of section.entries('values'))
    if (!declared.includes(key))
      diagnostics.error(
        'unknown_name',
        keyAt,
        `\`values\`: no kind of feedback has a value \`${key}\``,
        declared.length === 0
          ? `declare it in millrace.yaml, for example \`events: { order: { ${key}: float } }\``
          : help(key, declared, 'the values are'),
      );
  // Texts of `where` are compared as they are written.
  for (const { key, value, keyAt } of section.entries('where'))
    if (isSeq(value) && value.items.length === 0)
      diagnostics.error('wrong_type', keyAt, `\`where\`: \`${key}\` needs a list of values`);
}
