import { isMap } from 'yaml';
import { collidingFeatures, type FeatureName } from './feast-fields.js';
import { parseRedisUrl } from '../../settings/redis-target.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { EntityType } from '../model/entities.js';
import type { FeastSource } from '../model/feast.js';
import type { FeatureView } from '../model/views.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import type { Section } from '../yaml/section.js';
import type { Located, Span } from '../yaml/source.js';
import { entriesOf, locatedText, textOf } from '../yaml/tree.js';

type JoinKeys = FeastSource['joinKeys'];
type SourceSection = Section<'feature-view.source.feast'>;

/** Reads a view's `source: { feast: … }`. Its form was checked before. */
export function readFeastSource(
  source: SourceSection,
  view: FeatureView,
  entities: ReadonlyMap<string, EntityType>,
): FeastSource {
  const url = source.located('url');
  if (url !== undefined && parseRedisUrl(url.value) === undefined)
    source.diagnostics.error(
      'wrong_type',
      url.at,
      '`url`: expected redis://host[:port][/db], or rediss:// for TLS',
      'an environment variable can provide it: "${FEAST_REDIS_URL}"',
    );
  return {
    project: source.text('project') ?? '',
    url: url?.value,
    keyVersion: source.text('key_version') === '2' ? 2 : 3,
    view: source.text('view') ?? view.name,
    joinKeys: readJoinKeys(source, view, entities),
    fields: readFields(source, view),
  };
}

function readJoinKeys(
  source: SourceSection,
  { of, name: viewName }: FeatureView,
  entities: ReadonlyMap<string, EntityType>,
): JoinKeys {
  const { file, diagnostics } = source;
  const given = source.entry('join_keys');
  if (given === undefined)
    return of.map((type) => ({ name: entities.get(type)?.key ?? `${type}_id`, type: 'string' }));
  const joinKeys = new Map<string, JoinKeys[number]>();
  for (const { key, keyAt, value } of entriesOf(file, given.value)) {
    const joinKey = source.of('feature-view.source.feast.join_keys.*', value);
    const entity = isMap(value) ? joinKey.located('entity') : locatedText(file, value);
    if (entity === undefined) continue;
    if (!of.includes(entity.value))
      mismatch(
        diagnostics,
        entity.at,
        `the view \`${viewName}\` has the entities (${of.join(', ')}), not \`${entity.value}\``,
        didYouMean(entity.value, of),
      );
    else if (joinKeys.has(entity.value))
      mismatch(diagnostics, keyAt, `\`${entity.value}\` already has a join key`);
    joinKeys.set(entity.value, { name: key, type: joinKey.word('type') ?? 'string' });
  }
  return of.map((type) => {
    const joinKey = joinKeys.get(type);
    if (joinKey === undefined)
      mismatch(
        diagnostics,
        given.keyAt,
        `\`join_keys\`: \`${type}\` has no join key`,
        `add \`<join key>: ${type}\``,
      );
    return joinKey ?? { name: type, type: 'string' };
  });
}

function mismatch(diagnostics: Diagnostics, at: Span, message: string, help?: string): void {
  diagnostics.error('binding_mismatch', at, message, help);
}

export function readFields(
  section: SourceSection | Section<'feature-view.feast'>,
  view: FeatureView,
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const { key, keyAt, value } of section.entries('fields')) {
    checkFeature({ value: key, at: keyAt }, view, section.diagnostics);
    fields.set(key, textOf(value) ?? key);
  }
  return fields;
}

export function checkFeature(
  { value: name, at }: Located<string>,
  view: FeatureView,
  diagnostics: Diagnostics,
): boolean {
  if (view.features.has(name)) return true;
  diagnostics.error(
    'unknown_feature',
    at,
    `view \`${view.name}\` has no feature \`${name}\``,
    didYouMean(name, view.features.keys()),
  );
  return false;
}

/** Reports features that Feast stores in one field of one hash. The value that is written last is read for both. */
export function checkFeastFields(views: ReadonlyMap<string, FeatureView>, diagnostics: Diagnostics): void {
  const hashes = new Map<string, (FeatureName & { readonly full: string; readonly at: Span })[]>();
  for (const { name, source, features } of views.values()) {
    if (source === undefined) continue;
    const joinKeys = source.joinKeys.map(({ name: joinKey }) => joinKey).sort();
    const hash = JSON.stringify([source.url, source.project, source.keyVersion, joinKeys]);
    const fields = hashes.get(hash) ?? [];
    hashes.set(hash, fields);
    for (const feature of features.values())
      fields.push({
        view: source.view,
        feature: source.fields.get(feature.name) ?? feature.name,
        full: `${name}:${feature.name}`,
        at: feature.at,
      });
  }
  for (const fields of hashes.values())
    for (const [one, other] of collidingFeatures(fields))
      diagnostics.error(
        'feature_collision',
        other.at,
        `Feast stores \`${other.full}\` and \`${one.full}\` in the same field, because their names have the same hash`,
        'each reads the value of the other; rename one of them in Feast',
      );
}
