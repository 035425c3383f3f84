import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { isJsonList, isJsonObject, own } from '../../ground/core/value-fit.js';

/** The part of the JSON of `feast registry-dump` that an import needs. */
export interface FeastRegistry {
  readonly project: string | undefined;
  readonly entities: ReadonlyMap<string, RegistryEntity>;
  /** Batch and stream views. */
  readonly views: readonly RegistryView[];
  readonly services: readonly RegistryService[];
  /** Names of on-demand views, which Redis does not hold. */
  readonly onDemand: readonly string[];
}

export interface RegistryEntity {
  readonly name: string;
  readonly joinKey: string;
  /** Feast's name of the type, e.g. INT64; undefined if the dump has none. */
  readonly type: string | undefined;
}

export interface RegistryView {
  readonly name: string;
  readonly entities: readonly string[];
  readonly features: readonly RegistryFeature[];
  /** Types of the join keys in the source of the view. */
  readonly keyTypes: ReadonlyMap<string, string>;
  /** Milliseconds; undefined if rows never expire. */
  readonly ttl: number | undefined;
  /** Whether the view is materialised. */
  readonly online: boolean;
  /** The push source that writes to the view. */
  readonly pushSource: string | undefined;
}

/** A feature service: the features that it reads of each view. */
export interface RegistryService {
  readonly name: string;
  readonly reads: readonly {
    readonly view: string;
    readonly features: readonly string[];
    /** Whether it reads the view under another name, or with other join keys. */
    readonly isRenamed: boolean;
  }[];
}

export interface RegistryFeature {
  readonly name: string;
  readonly type: string | undefined;
  /** Elements of a vector; undefined if the dump does not contain it. */
  readonly length: number | undefined;
}

/** @returns undefined if the document is not a registry dump */
export function readRegistry(document: unknown): FeastRegistry | undefined {
  if (!isJsonObject(document)) return undefined;
  const views = [...specsIn(document, 'featureViews'), ...specsIn(document, 'streamFeatureViews')];
  if (own(document, 'featureViews') === undefined && own(document, 'entities') === undefined)
    return undefined;
  const entities = specsIn(document, 'entities').map((spec): RegistryEntity => {
    const name = textIn(spec, 'name') ?? '';
    return { name, joinKey: textIn(spec, 'joinKey') ?? name, type: textIn(spec, 'valueType') };
  });
  const [projects] = specsIn(document, 'projects').map((spec) => textIn(spec, 'name'));
  return {
    project:
      textIn(document, 'project') ?? views.map((spec) => textIn(spec, 'project')).find(Boolean) ?? projects,
    entities: new Map(entities.map((entity) => [entity.name, entity])),
    views: views.map(readView),
    services: specsIn(document, 'featureServices').map(readService),
    onDemand: specsIn(document, 'onDemandFeatureViews').flatMap((spec) => textIn(spec, 'name') ?? []),
  };
}

function readView(spec: JsonObject): RegistryView {
  const columns = objectsIn(spec, 'entityColumns').flatMap((column): [string, string][] => {
    const [name, type] = [textIn(column, 'name'), textIn(column, 'valueType')];
    return name === undefined || type === undefined ? [] : [[name, type]];
  });
  const entities = own(spec, 'entities');
  return {
    name: textIn(spec, 'name') ?? '',
    entities: isJsonList(entities) ? entities.filter((one) => typeof one === 'string') : [],
    features: objectsIn(spec, 'features').map(readFeature),
    keyTypes: new Map(columns),
    ttl: durationOf(own(spec, 'ttl')),
    online: own(spec, 'online') !== false,
    pushSource: pushSourceOf(own(spec, 'streamSource')),
  };
}

function pushSourceOf(source: JsonValue | undefined): string | undefined {
  return isJsonObject(source) && own(source, 'type') === 'PUSH_SOURCE' ? textIn(source, 'name') : undefined;
}

function readService(spec: JsonObject): RegistryService {
  return {
    name: textIn(spec, 'name') ?? '',
    reads: objectsIn(spec, 'features').map((projection) => {
      const aliases = own(projection, 'joinKeyMap');
      return {
        view: textIn(projection, 'featureViewName') ?? '',
        features: objectsIn(projection, 'featureColumns').flatMap((column) => textIn(column, 'name') ?? []),
        isRenamed:
          textIn(projection, 'featureViewNameAlias') !== undefined ||
          (isJsonObject(aliases) && Object.keys(aliases).length > 0),
      };
    }),
  };
}

function readFeature(feature: JsonObject): RegistryFeature {
  const length = Number(own(feature, 'vectorLength') ?? NaN);
  return {
    name: textIn(feature, 'name') ?? '',
    type: typeIn(feature),
    length: Number.isSafeInteger(length) && length > 0 ? length : undefined,
  };
}

/** Value types without a name in Feast's protobuf enum; a dump contains their numbers. */
const UNNAMED_TYPES: ReadonlyMap<number, string> = new Map([
  [30, 'PDF_BYTES'],
  [31, 'IMAGE_BYTES'],
]);

function typeIn(feature: JsonObject): string | undefined {
  const type = own(feature, 'valueType');
  return typeof type === 'number' ? (UNNAMED_TYPES.get(type) ?? String(type)) : textIn(feature, 'valueType');
}

/** Parses a protobuf Duration in JSON, e.g. `86400s`. No value or zero means that rows never expire. */
function durationOf(value: JsonValue | undefined): number | undefined {
  const match = typeof value === 'string' ? /^(\d{1,12}(?:\.\d{1,9})?)s$/.exec(value) : null;
  const milliseconds = match === null ? 0 : Math.round(Number(match[1]) * 1000);
  return milliseconds > 0 ? milliseconds : undefined;
}

/** The objects of a list; an object with a `spec` is replaced by its `spec`. */
function specsIn(document: JsonObject, name: string): JsonObject[] {
  return objectsIn(document, name).map((one) => {
    const spec = own(one, 'spec');
    return isJsonObject(spec) ? spec : one;
  });
}

function objectsIn(object: JsonObject, name: string): JsonObject[] {
  const list = own(object, name);
  return isJsonList(list) ? list.filter(isJsonObject) : [];
}

function textIn(object: JsonObject, name: string): string | undefined {
  const value = own(object, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
