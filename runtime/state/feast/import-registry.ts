import { stringify } from 'yaml';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { PREDEFINED_TYPES } from '../../project/config/project/load-entities.js';
import type { JoinKeyType } from '../../project/config/model/feast.js';
import { TYPE_KINDS } from '../../project/config/project/parse-type.js';
import { ROW_FIELDS } from '../../project/config/project/reserved-names.js';
import { collidingFeatures } from '../../project/config/project/feast-fields.js';
import type { FeastRegistry, RegistryEntity, RegistryFeature, RegistryView } from './registry.js';
import { FEATURE_TYPES, holdsJson, isFeatureValueType, JOIN_KEY_TYPES } from './value-types.js';

/** Project files that declare the content of a Feast registry. */
export interface RegistryImport {
  /** By name of the feature view: the content of schemas/features/<name>.yaml. */
  readonly views: ReadonlyMap<string, string>;
  /** By name of the entity type, without predefined types: the content of schemas/entities/<name>.yaml. */
  readonly entities: ReadonlyMap<string, string>;
  /** Number of features in all views. */
  readonly features: number;
  /** One sentence for each thing that could not be mapped or that the user should check. */
  readonly problems: readonly string[];
}

export interface ImportOptions {
  /** The name of the project in Feast. */
  readonly project: string;
  readonly keyVersion: 2 | 3;
  /** Environment variable that will hold the address of Feast's Redis; undefined for the service's own Redis. */
  readonly urlVariable: string | undefined;
  /** True if Millrace stores the rows, and Feast's clients write them; false if they are in Feast's Redis. */
  readonly isStored: boolean;
}

/** The entity that Feast uses for views without entities. */
const NO_ENTITY = '__dummy';

/** Maps a registry to project files. */
export function importRegistry(registry: FeastRegistry, options: ImportOptions): RegistryImport {
  const problems = registry.onDemand.map(
    (name) => `${name}: an on-demand view is computed on request; Redis does not hold it`,
  );
  for (const { name, reads } of registry.services)
    for (const read of reads)
      if (read.isRenamed)
        problems.push(
          `${name}: the feature service reads ${read.view} under another name or join key, which is not supported; it is ` +
            'read under its own',
        );
  const views = new Map<string, string>();
  const entities = new Map<string, string>();
  const fields = new Map<string, { readonly view: string; readonly feature: string }[]>();
  const expiring: string[] = [];
  let features = 0;
  for (const view of registry.views) {
    const mapped = new ViewImport(view, registry, problems).map();
    if (typeof mapped === 'string') {
      problems.push(`${view.name}: the view ${mapped}; it is left out`);
      continue;
    }
    if (views.has(mapped.name)) {
      problems.push(`${view.name}: another view is already called ${mapped.name}; this one is left out`);
      continue;
    }
    for (const type of mapped.of)
      if (!PREDEFINED_TYPES.includes(type)) entities.set(type, stringify({ entity: type }));
    views.set(mapped.name, viewText(view, mapped, options, registry));
    features += mapped.features.length;
    if (view.ttl !== undefined) expiring.push(mapped.name);
    const hash = JSON.stringify(mapped.joinKeys.map(({ name }) => name).sort());
    fields.set(hash, [
      ...(fields.get(hash) ?? []),
      ...mapped.features.map(({ feast }) => ({ view: view.name, feature: feast })),
    ]);
  }
  if (expiring.length > 0 && !options.isStored)
    problems.push(
      `ttl of ${expiring.join(', ')}: Feast's own server returns rows of any age from Redis, but Millrace treats older ` +
        'rows as missing; remove `ttl` from a view to read them too',
    );
  for (const list of options.isStored ? [] : fields.values())
    for (const [one, other] of collidingFeatures(list))
      problems.push(
        `${other.view}:${other.feature} and ${one.view}:${one.feature} share one field in Redis because the hashes ` +
          'of their names are equal, so each reads the value of the other; rename one of them in Feast',
      );
  return { views, entities, features, problems };
}

interface MappedView {
  readonly name: string;
  readonly of: readonly string[];
  readonly joinKeys: readonly {
    readonly name: string;
    readonly entity: string;
    readonly type: JoinKeyType;
  }[];
  readonly features: readonly {
    readonly name: string;
    readonly feast: string;
    readonly type: string;
    readonly holdsJson: boolean;
  }[];
}

/** Maps one view; records a problem for everything that cannot be mapped. */
class ViewImport {
  readonly #view: RegistryView;
  readonly #registry: FeastRegistry;
  readonly #problems: string[];

  constructor(view: RegistryView, registry: FeastRegistry, problems: string[]) {
    this.#view = view;
    this.#registry = registry;
    this.#problems = problems;
  }

  /** The mapped view, or the reason why none of its features can be read. */
  map(): MappedView | string {
    const view = this.#view;
    if (!view.online) return 'is not online, so Redis does not hold it';
    const name = nameFor(view.name);
    if (name === undefined) return 'has a name that cannot be a file name';
    const joinKeys = this.#joinKeys();
    if (typeof joinKeys === 'string') return joinKeys;
    const of = joinKeys.map(({ entity }) => entity);
    if (new Set(of).size < of.length) return 'has two entities that map to one entity type';
    const features = this.#features(of);
    if (features.length === 0) return 'has no feature that can be mapped';
    return { name, of, joinKeys, features };
  }

  #joinKeys(): MappedView['joinKeys'] | string {
    const joinKeys: MappedView['joinKeys'][number][] = [];
    for (const entityName of this.#view.entities) {
      if (entityName === NO_ENTITY) continue;
      const entity = this.#registry.entities.get(entityName);
      const type = entity && entityTypeFor(entity);
      if (entity === undefined || type === undefined)
        return `uses the entity ${entityName}, which is not in the registry or has a name that cannot be a file name`;
      const given = this.#view.keyTypes.get(entity.joinKey) ?? entity.type;
      const keyType = joinKeyTypeFor(given ?? 'STRING');
      if (keyType === undefined)
        return `has join key ${entity.joinKey} of the unsupported type ${given ?? 'none'}`;
      if (given === undefined)
        this.#problems.push(
          `${this.#view.name}: ${entity.joinKey} has no type in the registry; string is assumed`,
        );
      joinKeys.push({ name: entity.joinKey, entity: type, type: keyType });
    }
    return joinKeys;
  }

  #features(of: readonly string[]): MappedView['features'][number][] {
    const taken = new Set([...ROW_FIELDS, ...of.map(keyOf)]);
    // A feature whose name is valid keeps it, wherever it is in the list.
    const kept = new Set(this.#view.features.map(({ name }) => name));
    const features: MappedView['features'][number][] = [];
    for (const feature of this.#view.features) {
      const type = featureTypeFor(feature);
      const holds = type !== undefined && holdsJson(feature.type ?? '', type);
      const label = `${this.#view.name}:${feature.name}`;
      if (type === undefined) {
        this.#problems.push(`${label}: ${whyLeftOut(feature)}`);
        continue;
      }
      const wanted = nameFor(feature.name);
      const clashes =
        wanted !== undefined && (taken.has(wanted) || (kept.has(wanted) && wanted !== feature.name));
      const name = clashes ? `${wanted}_feature` : wanted;
      if (name === undefined || taken.has(name)) {
        this.#problems.push(
          `${label}: its name is not a valid feature name or is already used; it is left out`,
        );
        continue;
      }
      taken.add(name);
      features.push({ name, feast: feature.name, type, holdsJson: holds });
    }
    return features;
  }
}

function featureTypeFor({ type = '', length }: RegistryFeature): string | undefined {
  if (!isFeatureValueType(type)) return undefined;
  if (FEATURE_TYPES[type] !== 'vector(n)') return FEATURE_TYPES[type];
  return length === undefined ? 'list(string)' : `vector(${length})`;
}

function whyLeftOut({ type }: RegistryFeature): string {
  return type === undefined
    ? 'its type is not in the registry; it is left out'
    : `features of the type ${type} are not supported; it is left out`;
}

function joinKeyTypeFor(type: string): JoinKeyType | undefined {
  return Object.hasOwn(JOIN_KEY_TYPES, type) ? JOIN_KEY_TYPES[type] : undefined;
}

/** Maps both entities `driver` and `driver_id` to `driver`: the key of a type is `<type>_id` in Millrace. */
function entityTypeFor({ name }: RegistryEntity): string | undefined {
  const type = nameFor(name)?.replace(/(?<=.)_id$/, '');
  return type !== undefined && TYPE_KINDS.includes(type) ? `${type}_entity` : type;
}

const keyOf = (type: string): string => (type === 'query' ? 'query' : `${type}_id`);

/** Converts a name of Feast to a valid name: `Conv-Rate` becomes `conv_rate`. */
function nameFor(feast: string): string | undefined {
  const name = feast
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+|_+$/g, '');
  return NAME_PATTERN.test(name) && name.length <= 100 ? name : undefined;
}

function viewText(
  view: RegistryView,
  mapped: MappedView,
  options: ImportOptions,
  registry: FeastRegistry,
): string {
  const use = feastUse(view, mapped, options, registry);
  return stringify({
    view: mapped.name,
    of: mapped.of,
    ...(view.ttl === undefined ? {} : { ttl: durationText(view.ttl) }),
    ...(options.isStored ? {} : { source: { feast: feastSource(view, mapped, options) } }),
    ...(Object.keys(use).length === 0 ? {} : { feast: use }),
    features: Object.fromEntries(mapped.features.map(({ name, type }) => [name, type])),
  });
}

/** The names of Feast that differ from those of the project. */
function feastNames(view: RegistryView, { name, features }: MappedView): { view?: string; fields?: object } {
  const renamed = features.filter((feature) => feature.name !== feature.feast);
  return {
    ...(view.name === name ? {} : { view: view.name }),
    ...(renamed.length === 0
      ? {}
      : { fields: Object.fromEntries(renamed.map((feature) => [feature.name, feature.feast])) }),
  };
}

function feastSource(view: RegistryView, mapped: MappedView, options: ImportOptions): object {
  const { view: name, fields } = feastNames(view, mapped);
  return {
    project: options.project,
    ...(options.urlVariable === undefined ? {} : { url: `\${${options.urlVariable}}` }),
    ...(options.keyVersion === 3 ? {} : { key_version: options.keyVersion }),
    ...(name === undefined ? {} : { view: name }),
    ...(mapped.joinKeys.length === 0
      ? {}
      : {
          join_keys: Object.fromEntries(
            mapped.joinKeys.map(({ name: key, entity, type }) => [
              key,
              type === 'string' ? entity : { entity, type },
            ]),
          ),
        }),
    ...(fields === undefined ? {} : { fields }),
  };
}

/** How Feast's clients use the view: `feast:` of the view. */
function feastUse(
  view: RegistryView,
  mapped: MappedView,
  { isStored }: ImportOptions,
  { services }: FeastRegistry,
): object {
  const ours = new Map(mapped.features.map(({ name, feast }) => [feast, name]));
  const json = mapped.features.filter((feature) => feature.holdsJson).map(({ name }) => name);
  const reads = services.flatMap(({ name, reads: all }): [string, string[]][] => {
    const features = all
      .filter((read) => read.view === view.name)
      .flatMap((read) => read.features.flatMap((feature) => ours.get(feature) ?? []));
    return features.length === 0 ? [] : [[name, [...new Set(features)]]];
  });
  const renamedKeys = mapped.joinKeys.filter(({ name, entity }) => name !== keyOf(entity));
  return {
    ...(isStored ? feastNames(view, mapped) : {}),
    ...(isStored && renamedKeys.length > 0
      ? { join_keys: Object.fromEntries(renamedKeys.map(({ name, entity }) => [name, entity])) }
      : {}),
    ...(json.length === 0 ? {} : { json }),
    ...(isStored && view.pushSource !== undefined ? { push: [view.pushSource] } : {}),
    ...(reads.length === 0 ? {} : { services: Object.fromEntries(reads) }),
  };
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

function durationText(milliseconds: number): string {
  const unit = UNITS.find(([, length]) => milliseconds % length === 0);
  return unit === undefined ? `${milliseconds}ms` : `${milliseconds / unit[1]}${unit[0]}`;
}
