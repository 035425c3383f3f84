import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import type { EntityType } from '../model/entities.js';
import type { FeastUse } from '../model/feast.js';
import type { FeatureView } from '../model/views.js';
import { checkFeature, readFields } from './load-feast-source.js';
import type { Section } from '../yaml/section.js';
import type { Located } from '../yaml/source.js';
import { itemsOf, locatedText } from '../yaml/tree.js';

type UseSection = Section<'feature-view.feast'>;

/** Reads a view's `feast:`. Its form was checked before. */
export function readFeastUse(
  use: UseSection,
  view: FeatureView,
  entities: ReadonlyMap<string, EntityType>,
): FeastUse {
  const { file, diagnostics } = use;
  const json = use.texts('json').filter((feature) => checkJson(feature, view, diagnostics));
  const services = use.entries('services').map(({ key, value }) => {
    const features = itemsOf(value)
      .flatMap((item) => locatedText(file, item) ?? [])
      .filter((one) => checkFeature(one, view, diagnostics));
    return [key, features.map(({ value: name }) => name)] as const;
  });
  return {
    view: use.text('view') ?? view.name,
    joinKeys: readJoinKeys(use, view, entities),
    fields: readFields(use, view),
    json: new Set(json.map(({ value }) => value)),
    push: use.texts('push').map(({ value }) => value),
    services: new Map(services),
  };
}

/** In a view that Feast stores, `source: feast:` has the names, and nothing can be pushed. */
export function refuseNamesOfSource(use: UseSection): void {
  for (const name of ['view', 'join_keys', 'fields', 'push'] as const) {
    const entry = use.entry(name);
    if (entry === undefined) continue;
    use.diagnostics.error(
      'unknown_key',
      entry.keyAt,
      `\`${name}\` is not allowed here for a view that Feast stores`,
      name === 'push'
        ? 'remove the line: Feast writes the rows of the view'
        : `write it under \`source: feast:\` instead`,
    );
  }
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
  use: UseSection,
  { of, name: viewName }: FeatureView,
  entities: ReadonlyMap<string, EntityType>,
): FeastUse['joinKeys'] {
  if (!use.has('join_keys')) return undefined;
  const names = new Map<string, string>();
  for (const { key, value } of use.entries('join_keys')) {
    const entity = locatedText(use.file, value);
    if (entity === undefined) continue;
    names.set(entity.value, key);
    if (of.includes(entity.value)) continue;
    use.diagnostics.error(
      'binding_mismatch',
      entity.at,
      `the view \`${viewName}\` has the entities (${of.join(', ')}), not \`${entity.value}\``,
      didYouMean(entity.value, of),
    );
  }
  return of.map((type) => names.get(type) ?? entities.get(type)?.key ?? `${type}_id`);
}
