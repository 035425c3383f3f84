import { isMap, type Node } from 'yaml';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { parseDuration } from '../../../ground/api/duration.js';
import { readDefault } from './read-default.js';
import { readFeastSource } from './load-feast-source.js';
import { readFeastUse, refuseNamesOfSource } from './load-feast-use.js';
import { readReader } from './load-reader.js';
import type { EntityType } from '../model/entities.js';
import type { FeatureDefinition, FeatureView } from '../model/views.js';
import type { TypeContext } from './parse-type.js';
import { isRecordType, readTypedEntry } from './typed-entry.js';
import { DEFAULT_GROUP, ROW_FIELDS, STORE_GROUPS } from './reserved-names.js';
import type { Located, Span } from '../yaml/source.js';
import { Section } from '../yaml/section.js';
import { entryOf, spanOf } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';

/** Loads the feature views of a project. `checkViewKeys` checks their entity types once all types are known. */
export function loadViews(
  files: readonly ParsedFile[],
  context: TypeContext,
  entities: ReadonlyMap<string, EntityType>,
): Map<string, FeatureView> {
  return new Map(files.map((parsed) => [parsed.name.value, loadView(parsed, context, entities)]));
}

function loadView(
  { file, root, name }: ParsedFile,
  context: TypeContext,
  entities: ReadonlyMap<string, EntityType>,
): FeatureView {
  const { diagnostics } = context;
  const section = new Section('feature-view', file, root, diagnostics);
  const view: FeatureView = {
    name: name.value,
    of: readOf(section, context),
    ttl: readTtl(section),
    expired: section.word('expired') ?? 'missing',
    group: readGroup(section),
    ...(section.isTrue('history') ? { history: true } : {}),
    features: readFeatures(section, context),
    at: name.at,
  };
  const use = section.section('feast');
  const withUse = section.has('feast') ? { ...view, feast: readFeastUse(use, view, entities) } : view;
  const feast = section.section('source').section('feast');
  const reader = readReader(section, feast.node !== undefined);
  if (feast.node !== undefined) refuseKeysOfStore(section, 'Feast stores');
  if (reader !== undefined) {
    refuseKeysOfStore(section, 'a reader reads');
    return { ...withUse, reader };
  }
  if (feast.node === undefined) return withUse;
  refuseNamesOfSource(use);
  return { ...withUse, source: readFeastSource(feast, view, entities) };
}

/** @param who e.g. `Feast stores` */
function refuseKeysOfStore(section: ViewSection, who: string): void {
  for (const [key, help] of [
    ['group', 'remove the line: its rows are not in the store'],
    ['history', 'remove the line: its rows do not pass through Millrace'],
  ] as const) {
    const entry = section.entry(key);
    if (entry === undefined || (key === 'history' && !section.isTrue(key))) continue;
    const message = `\`${key}\` is not allowed for a view that ${who}`;
    section.diagnostics.error('unknown_key', entry.keyAt, message, help);
  }
}

type ViewSection = Section<'feature-view'>;

function readOf(view: ViewSection, context: TypeContext): string[] {
  const types: string[] = [];
  for (const type of view.texts('of')) {
    if (types.includes(type.value))
      context.diagnostics.error(
        'duplicate_name',
        type.at,
        `the key contains \`${type.value}\` twice`,
        'a row names each key once, by the name of its type',
      );
    context.references.push({ entity: type.value, at: type.at });
    types.push(type.value);
  }
  return types;
}

function readTtl(view: ViewSection): number | null {
  const ttl = parseDuration(view.text('ttl') ?? '');
  if (ttl === 0) view.wrong('ttl', 'must be more than 0', 'without ttl, rows never expire');
  return ttl ?? null;
}

function readGroup(view: ViewSection): string {
  const group = view.located('group');
  if (group !== undefined && STORE_GROUPS.has(group.value))
    view.diagnostics.error(
      'reserved_name',
      group.at,
      `the group \`${group.value}\` is reserved for the store`,
      'choose another name, or remove `group`',
    );
  return group?.value ?? DEFAULT_GROUP;
}

function readFeatures(view: ViewSection, context: TypeContext): Map<string, FeatureDefinition> {
  const features = new Map<string, FeatureDefinition>();
  for (const { key, keyAt, value } of view.entries('features')) {
    if (ROW_FIELDS.has(key))
      context.diagnostics.error(
        'reserved_name',
        keyAt,
        `\`${key}\` is a field of every feature row`,
        'choose another name',
      );
    const feature = readFeature(keyAt, key, value, context);
    if (feature !== undefined) features.set(key, feature);
  }
  return features;
}

function readFeature(
  at: Span,
  name: string,
  node: Node | undefined,
  context: TypeContext,
): FeatureDefinition | undefined {
  const { file } = at;
  const { diagnostics } = context;
  if (isRecordType(file, node)) {
    diagnostics.error(
      'invalid_type',
      node === undefined ? at : spanOf(file, node),
      'a feature cannot contain records',
      'declare one feature per value, or an attribute of the entity',
    );
    return undefined;
  }
  const found = readTypedEntry(
    { at, name, node, keys: ['default'], example: '{ type: int, default: 0 }' },
    context,
  );
  if (found === undefined) return undefined;
  const given = isMap(node) ? entryOf(file, node, 'default') : undefined;
  const value = given && readDefault(given, found.type, diagnostics);
  return { name, ...found, default: value, at };
}

/** A pushed row contains the keys of its entities and the features side by side, so their names must differ. */
export function checkViewKeys(
  views: ReadonlyMap<string, FeatureView>,
  entities: ReadonlyMap<string, EntityType>,
  diagnostics: Diagnostics,
): void {
  for (const view of views.values()) {
    const keys = new Map<string, Located<string>>();
    for (const type of new Set(view.of)) {
      const key = entities.get(type)?.key;
      if (key === undefined) continue;
      const other = keys.get(key);
      if (other !== undefined && other.value !== type)
        diagnostics.error(
          'duplicate_name',
          view.at,
          `\`${other.value}\` and \`${type}\` both have the key \`${key}\``,
          'give one of them another `key:`',
        );
      keys.set(key, { value: type, at: view.at });
      const feature = view.features.get(key);
      if (feature !== undefined)
        diagnostics.error(
          'reserved_name',
          feature.at,
          `\`${key}\` is already the key of \`${type}\` in every row of the view`,
          'remove or rename the feature',
        );
    }
  }
}
