import { choiceOf } from '../model/choices.js';
import { isMap, type Node } from 'yaml';
import { collidingFeatures, type FeatureName } from './feast-fields.js';
import { parseRedisUrl } from '../../settings/redis-target.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { EntityType } from '../model/entities.js';
import type { FeastSource } from '../model/feast.js';
import type { FeatureView } from '../model/views.js';
import { nearest } from '../../../ground/core/nearest.js';
import type { SourceFile, Span } from '../yaml/source.js';
import { entriesOf, entryOf, locatedText, memberOf, textOf } from '../yaml/tree.js';

type JoinKeys = FeastSource['joinKeys'];

/** Reads a view's `source: { feast: … }`. Its form was checked before. */
export function readFeastSource(
  file: SourceFile,
  node: Node,
  view: FeatureView,
  entities: ReadonlyMap<string, EntityType>,
  diagnostics: Diagnostics,
): FeastSource {
  const url = locatedText(file, memberOf(file, node, 'url'));
  if (url !== undefined && parseRedisUrl(url.value) === undefined)
    diagnostics.error(
      'wrong_type',
      url.at,
      '`url`: expected redis://host[:port][/db], or rediss:// for TLS',
      'an environment variable can provide it: "${FEAST_REDIS_URL}"',
    );
  return {
    project: textOf(memberOf(file, node, 'project')) ?? '',
    url: url?.value,
    keyVersion: textOf(memberOf(file, node, 'key_version')) === '2' ? 2 : 3,
    view: textOf(memberOf(file, node, 'view')) ?? view.name,
    joinKeys: readJoinKeys(file, node, view, entities, diagnostics),
    fields: readFields(file, memberOf(file, node, 'fields'), view, diagnostics),
  };
}

function readJoinKeys(
  file: SourceFile,
  node: Node,
  { of, name: viewName }: FeatureView,
  entities: ReadonlyMap<string, EntityType>,
  diagnostics: Diagnostics,
): JoinKeys {
  const given = entryOf(file, node, 'join_keys');
  if (given === undefined)
    return of.map((type) => ({ name: entities.get(type)?.key ?? `${type}_id`, type: 'string' }));
  const joinKeys = new Map<string, JoinKeys[number]>();
  for (const { key, keyAt, value } of entriesOf(file, given.value)) {
    const entity = locatedText(file, isMap(value) ? memberOf(file, value, 'entity') : value);
    if (entity === undefined) continue;
    if (!of.includes(entity.value)) {
      const guess = nearest(entity.value, of);
      mismatch(
        diagnostics,
        entity.at,
        `the view \`${viewName}\` has the entities (${of.join(', ')}), not \`${entity.value}\``,
        guess && `did you mean \`${guess}\`?`,
      );
    } else if (joinKeys.has(entity.value))
      mismatch(diagnostics, keyAt, `\`${entity.value}\` already has a join key`);
    const type = isMap(value) ? textOf(memberOf(file, value, 'type')) : undefined;
    joinKeys.set(entity.value, { name: key, type: choiceOf('feature-view.type', type) });
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
  file: SourceFile,
  node: Node | undefined,
  view: FeatureView,
  diagnostics: Diagnostics,
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const { key, keyAt, value } of entriesOf(file, node)) {
    if (!view.features.has(key)) {
      const guess = nearest(key, view.features.keys());
      diagnostics.error(
        'unknown_feature',
        keyAt,
        `view \`${view.name}\` has no feature \`${key}\``,
        guess === undefined ? undefined : `did you mean \`${guess}\`?`,
      );
    }
    fields.set(key, textOf(value) ?? key);
  }
  return fields;
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
