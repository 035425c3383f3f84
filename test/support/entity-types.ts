import type { JsonValue, ValueType } from '../../runtime/ground/api/types.js';
import type { EntityType } from '../../runtime/project/config/model/entities.js';
import type { FeatureView } from '../../runtime/project/config/model/views.js';
import { SourceFile, type Span } from '../../runtime/project/config/yaml/source.js';

const at: Span = { file: new SourceFile('test.yaml', ''), start: 0, end: 0 };

/** Creates an entity type as a project file declares it. */
export function entityType(
  name: string,
  attributes: Readonly<Record<string, ValueType>> = {},
  key = `${name}_id`,
): EntityType {
  const entries = Object.entries(attributes).map(
    ([attribute, type]) => [attribute, { name: attribute, type, at }] as const,
  );
  return { name, key, attributes: new Map(entries), at };
}

/** A feature for `featureView`: its type, or its type and default. */
export type FeatureSketch = ValueType | { readonly type: ValueType; readonly default: JsonValue };

/** Creates a feature view as a project file declares it. */
export function featureView(
  name: string,
  of: readonly string[],
  features: Readonly<Record<string, FeatureSketch>>,
  more: Partial<Pick<FeatureView, 'ttl' | 'expired' | 'group' | 'source'>> = {},
): FeatureView {
  const entries = Object.entries(features).map(([feature, sketch]) => {
    const { type, default: stand } = 'kind' in sketch ? { type: sketch, default: undefined } : sketch;
    return [feature, { name: feature, type, default: stand, at }] as const;
  });
  return {
    name,
    of,
    ttl: null,
    expired: 'missing',
    group: 'features',
    ...more,
    features: new Map(entries),
    at,
  };
}
