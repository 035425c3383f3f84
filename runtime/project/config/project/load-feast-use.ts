import type { Node } from 'yaml';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { nearest } from '../../../ground/core/nearest.js';
import type { EntityType } from '../model/entities.js';
import type { FeastUse } from '../model/feast.js';
import type { FeatureView } from '../model/views.js';
import { readFields } from './load-feast-source.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import { entriesOf, entryOf, itemsOf, locatedText, memberOf, textOf } from '../yaml/tree.js';

/** An entry of the view's file. */
interface Entry {
  readonly keyAt: Span;
  readonly value: Node | undefined;
}

/** Reads a view's `feast:`. Its form was checked before. */
export function readFeastUse(
  file: SourceFile,
  { value: node }: Entry,
  view: FeatureView,
  entities: ReadonlyMap<string, EntityType>,
  diagnostics: Diagnostics,
): FeastUse {
  const textsAt = (name: string): Located<string>[] => textsOf(file, memberOf(file, node, name));
  const json = textsAt('json').filter((feature) => checkJson(feature, view, diagnostics));
  const services = entriesOf(file, memberOf(file, node, 'services')).map(({ key, value }) => {
    const features = textsOf(file, value).filter((one) => checkFeature(one, view, diagnostics));
    return [key, features.map(({ value: name }) => name)] as const;
  });
  return {
    view: textOf(memberOf(file, node, 'view')) ?? view.name,
    joinKeys: readJoinKeys(file, node, view, entities, diagnostics),
    fields: readFields(file, memberOf(file, node, 'fields'), view, diagnostics),
    json: new Set(json.map(({ value }) => value)),
    push: textsAt('push').map(({ value }) => value),
    services: new Map(services),
  };
}

/** In a view that Feast stores, `source: feast:` has the names, and nothing can be pushed. */
export function refuseNamesOfSource(
  file: SourceFile,
  { value: node }: Entry,
  diagnostics: Diagnostics,
): void {
  for (const name of ['view', 'join_keys', 'fields', 'push']) {
    const entry = entryOf(file, node, name);
    if (entry === undefined) continue;
    diagnostics.error(
      'unknown_key',
      entry.keyAt,
      `\`${name}\` is not allowed here for a view that Feast stores`,
      name === 'push'
        ? 'remove the line: Feast writes the rows of the view'
        : `write it under \`source: feast:\` instead`,
    );
  }
}

function textsOf(file: SourceFile, node: Node | undefined): Located<string>[] {
  return itemsOf(node).flatMap((item) => locatedText(file, item) ?? []);
}

function checkFeature(
  { value: name, at }: Located<string>,
  view: FeatureView,
  diagnostics: Diagnostics,
): boolean {
  if (view.features.has(name)) return true;
  const guess = nearest(name, view.features.keys());
  diagnostics.error(
    'unknown_feature',
    at,
    `view \`${view.name}\` has no feature \`${name}\``,
    guess === undefined ? undefined : `did you mean \`${guess}\`?`,
  );
  return false;
}

function checkJson(feature: Located<string>, view: FeatureView, diagnostics: Diagnostics): boolean {
  if (!checkFeature(feature, view, diagnostics)) return false;
  const type = view.features.get(feature.value)?.type;
  if (type?.kind === 'string' || (type?.kind === 'list' && type.of.kind === 'string')) return true;
  diagnostics.error(
    'wrong_type',
    feature.at,
    `\`json\`: \`${feature.value}\` holds no text`,
    'name features of type string or list(string)',
  );
  return false;
}

function readJoinKeys(
  file: SourceFile,
  node: Node | undefined,
  { of, name: viewName }: FeatureView,
  entities: ReadonlyMap<string, EntityType>,
  diagnostics: Diagnostics,
): FeastUse['joinKeys'] {
  const given = entryOf(file, node, 'join_keys');
  if (given === undefined) return undefined;
  const names = new Map<string, string>();
  for (const { key, value } of entriesOf(file, given.value)) {
    const entity = locatedText(file, value);
    if (entity === undefined) continue;
    names.set(entity.value, key);
    if (of.includes(entity.value)) continue;
    const guess = nearest(entity.value, of);
    diagnostics.error(
      'binding_mismatch',
      entity.at,
      `the view \`${viewName}\` has the entities (${of.join(', ')}), not \`${entity.value}\``,
      guess === undefined ? undefined : `did you mean \`${guess}\`?`,
    );
  }
  return of.map((type) => names.get(type) ?? entities.get(type)?.key ?? `${type}_id`);
}
