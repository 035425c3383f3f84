import { MillraceError } from '../api/errors.js';
import type { JsonObject } from '../api/types.js';
import { pointerTo, shownName, Violations } from '../core/violations.js';
import type { EntityType, FeatureDefinition, FeatureView } from '../config/project/model.js';
import { nearest } from '../core/nearest.js';
import { idProblem, idText } from '../core/ids.js';
import { describe, isJsonObject, own } from '../core/value-fit.js';
import { rowKeys } from './row-keys.js';

/** Maximum number of rows, and of features, of one request. */
export const MAX_ONLINE_ROWS = 1000;
export const MAX_ONLINE_FEATURES = 250;

/** A checked request of `POST /feature/get-online-features`. */
export interface OnlineRequest {
  readonly rows: number;
  readonly entities: readonly EntityColumn[];
  readonly features: readonly AskedFeature[];
}

/** One list of `entities`. */
export interface EntityColumn {
  readonly name: string;
  /** As sent: strings and whole numbers. */
  readonly sent: readonly (string | number)[];
  readonly ids: readonly string[];
}

export interface AskedFeature {
  /** The feature's name in the answer. */
  readonly name: string;
  readonly view: FeatureView;
  readonly feature: FeatureDefinition;
  /** The columns with the ids of the view's entities, in the order of the view. */
  readonly keys: readonly EntityColumn[];
}

/**
 * Checks a body `{features: ["view:feature"], entities: {name: [ids]}, full_feature_names?}`. A list of `entities` is
 * named by the key of its entity type, or by the join key of a view in Feast.
 * @throws MillraceError invalid_body, unknown_view
 */
export function readOnlineRequest(
  body: unknown,
  views: ReadonlyMap<string, FeatureView>,
  types: ReadonlyMap<string, EntityType>,
): OnlineRequest {
  const violations = new Violations();
  if (!isJsonObject(body)) {
    violations.add(
      '',
      'wrong_type',
      `expected an object with features and entities, found ${describe(body)}`,
    );
    violations.throwIfAny('The body');
    throw new Error('unreachable');
  }
  /** Names of lists that were rejected as a whole. They are not reported as missing as well. */
  const refused = new Set<string>();
  const entities = readEntities(own(body, 'entities'), refused, violations);
  const full = own(body, 'full_feature_names');
  if (full !== undefined && full !== null && typeof full !== 'boolean')
    violations.add(
      '/full_feature_names',
      'wrong_type',
      `full_feature_names: expected true or false, found ${describe(full)}`,
    );
  const hasEntities = isJsonObject(own(body, 'entities'));
  const features = readFeatures(body, views, violations).map(({ view, feature, pointer }): AskedFeature => {
    const name = full === true ? `${view.name}__${feature.name}` : feature.name;
    return {
      name,
      view,
      feature,
      keys: hasEntities ? keysOf(view, types, { entities, refused }, pointer, violations) : [],
    };
  });
  checkNames(features, violations);
  violations.throwIfAny('The body');
  return { rows: entities[0]?.ids.length ?? 1, entities, features };
}

function readEntities(value: unknown, refused: Set<string>, violations: Violations): EntityColumn[] {
  if (!isJsonObject(value)) {
    const code = value === undefined ? 'missing_field' : 'wrong_type';
    violations.add('/entities', code, `entities: expected lists of ids by name, found ${describe(value)}`);
    return [];
  }
  const columns: EntityColumn[] = [];
  for (const [name, list] of Object.entries(value)) {
    const pointer = pointerTo('/entities', name);
    if (!Array.isArray(list)) {
      refused.add(name);
      violations.add(
        pointer,
        'wrong_type',
        `${shownName(name)}: expected a list of ids, found ${describe(list)}`,
      );
      continue;
    }
    if (list.length > MAX_ONLINE_ROWS) {
      refused.add(name);
      const detail = `${shownName(name)}: at most ${MAX_ONLINE_ROWS} ids, found ${list.length}`;
      violations.add(pointer, 'too_many', detail);
      continue;
    }
    const [first] = columns;
    if (first !== undefined && first.ids.length !== list.length) {
      const detail = `${shownName(name)} has ${list.length} ids, but ${shownName(first.name)} has ${first.ids.length}`;
      violations.add(pointer, 'wrong_type', `${detail}; each list needs one id for each row`);
    }
    const sent = list as readonly (string | number)[];
    columns.push({
      name,
      sent,
      ids: sent.map((id, i) => readId(id, name, pointer, i, violations)),
    });
  }
  return columns;
}

/**
 * Converts an id to text, because callers often send whole numbers. An empty text stands for an unknown entity. No record
 * has that id, so the row is not found.
 */
function readId(id: unknown, name: string, pointer: string, index: number, violations: Violations): string {
  if (id === '') return id;
  const problem = idProblem(id);
  if (problem === undefined) return idText(id) ?? '';
  const detail = `${shownName(name)}: ${problem}, found ${describe(id)}`;
  violations.add(pointerTo(pointer, index), 'invalid_id', detail);
  return '';
}

interface FoundFeature {
  readonly view: FeatureView;
  readonly feature: FeatureDefinition;
  readonly pointer: string;
}

function readFeatures(
  body: JsonObject,
  views: ReadonlyMap<string, FeatureView>,
  violations: Violations,
): FoundFeature[] {
  const list: unknown = own(body, 'features');
  if (!Array.isArray(list)) {
    const code = list === undefined ? 'missing_field' : 'wrong_type';
    violations.add('/features', code, `features: expected a list of view:feature, found ${describe(list)}`);
    return [];
  }
  if (list.length === 0 || list.length > MAX_ONLINE_FEATURES) {
    const detail = `features: expected 1 to ${MAX_ONLINE_FEATURES}, found ${list.length}`;
    violations.add('/features', list.length === 0 ? 'wrong_type' : 'too_many', detail);
    return [];
  }
  return list.flatMap((one: unknown, i) => {
    const pointer = pointerTo('/features', i);
    const found = typeof one === 'string' ? /^([^:]+):([^:]+)$/.exec(one) : null;
    if (found === null) {
      violations.add(pointer, 'wrong_type', `expected a feature as view:feature, found ${describe(one)}`);
      return [];
    }
    const [, viewName = '', name = ''] = found;
    const view = views.get(viewName) ?? unknownView(viewName, views);
    const feature = view.features.get(name);
    if (feature !== undefined) return [{ view, feature, pointer }];
    const guess = nearest(name, view.features.keys());
    const help =
      guess === undefined ? `it has ${[...view.features.keys()].join(', ')}` : `did you mean "${guess}"?`;
    violations.add(
      pointer,
      'unknown_feature',
      `view ${view.name} has no feature ${JSON.stringify(shownName(name))}; ${help}`,
    );
    return [];
  });
}

function unknownView(name: string, views: ReadonlyMap<string, FeatureView>): never {
  const guess = nearest(name, views.keys());
  const others =
    views.size === 0 ? 'schemas/features declares none' : `there are ${[...views.keys()].join(', ')}`;
  const help = guess === undefined ? others : `did you mean "${guess}"?`;
  throw new MillraceError(
    'unknown_view',
    `features: no feature view is called ${JSON.stringify(shownName(name))}; ${help}`,
  );
}

/** The columns that hold the ids of a view's entities. */
function keysOf(
  view: FeatureView,
  types: ReadonlyMap<string, EntityType>,
  {
    entities,
    refused,
  }: { readonly entities: readonly EntityColumn[]; readonly refused: ReadonlySet<string> },
  pointer: string,
  violations: Violations,
): EntityColumn[] {
  return rowKeys(view, types).flatMap((key, i) => {
    const joinKey = view.source?.joinKeys[i]?.name ?? key;
    const column = entities.find(({ name }) => name === joinKey) ?? entities.find(({ name }) => name === key);
    if (column !== undefined) return [column];
    if (refused.has(joinKey) || refused.has(key)) return [];
    const named = joinKey === key ? `"${key}"` : `"${joinKey}" or "${key}"`;
    const detail = `view ${view.name} is of (${view.of.join(', ')}), but entities has no ${named}`;
    violations.add(pointer, 'missing_id', detail);
    return [];
  });
}

/** Checks that no two features have the same name in the answer. */
function checkNames(features: readonly AskedFeature[], violations: Violations): void {
  const byName = new Map<string, AskedFeature>();
  for (const asked of features) {
    const other = byName.get(asked.name);
    byName.set(asked.name, asked);
    if (other === undefined) continue;
    const same = other.view === asked.view;
    violations.add(
      '/features',
      'duplicate_name',
      same
        ? `${asked.view.name}:${asked.feature.name} is requested twice`
        : `${other.view.name} and ${asked.view.name} both have a feature ${asked.name}; set full_feature_names`,
    );
  }
}
