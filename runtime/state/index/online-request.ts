import type { JsonObject } from '../../ground/api/types.js';
import {
  FLAG_FIELD,
  notAnObject,
  nullable,
  objectField,
  readFields,
  sizedField,
  textField,
} from '../../ground/core/body-fields.js';
import { pointerTo, shownName, Violations } from '../../ground/core/violations.js';
import type { EntityType } from '../../project/config/model/entities.js';
import type { FeatureDefinition, FeatureView } from '../../project/config/model/views.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { AS_TEXT, didYouMean } from '../../ground/core/nearest.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import { describe, isJsonObject } from '../../ground/core/value-fit.js';
import { rowKeys } from './row-keys.js';
import { feastFeatureName, featureNamed, joinKeyName, viewNames, type ViewNames } from './view-names.js';

/** Maximum number of rows, and of features, of one request. */
export const MAX_ONLINE_ROWS = 100_000;
export const MAX_ONLINE_FEATURES = 250;
/** Maximum number of values of a request with more than `FEW_ROWS` rows. A vector counts its elements. */
export const MAX_ONLINE_VALUES = 4_000_000;
const FEW_ROWS = 1000;

// The parts of a body, in the order in which they are read.
const ENTITIES = { entities: objectField('lists of ids by name') };
const FULL_NAMES = { full_feature_names: nullable(FLAG_FIELD) };
const SERVICE = { feature_service: nullable(textField('the name of a feature service')) };
const FEATURES = {
  features: sizedField(MAX_ONLINE_FEATURES, 'a list of view:feature', { few: 'wrong_type' }),
};
export const ONLINE_BODY = { ...ENTITIES, ...FULL_NAMES, ...FEATURES };
/** The same with a feature service, which replaces `features`. */
export const SERVICE_BODY = { ...ENTITIES, ...FULL_NAMES, feature_service: textField() };

/** Ids to check before other work on the event loop may run. */
const SLICE = 1000;

/** A checked request of `POST /feature/get-online-features` or `POST /get-online-features`. */
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
 * Checks a body `{features: ["view:feature"], feature_service?, entities: {name: [ids]}, full_feature_names?}`. Views,
 * features and the lists of `entities` have the project's names, or those of Feast; the answer repeats the name that
 * was sent. A feature service replaces `features`.
 * @throws MillraceError invalid_body, unknown_view
 */
export function* readOnlineRequest(
  body: unknown,
  views: ReadonlyMap<string, FeatureView>,
  types: ReadonlyMap<string, EntityType>,
): Pieces<OnlineRequest> {
  const violations = new Violations();
  if (!isJsonObject(body)) throw notAnObject(body, 'The body', 'an object with features and entities');
  const read = readFields(body, ENTITIES, violations);
  /** Names of lists that were rejected as a whole. They are not reported as missing as well. */
  const refused = new Set<string>();
  const entities = yield* readEntities(read.entities ?? {}, refused, violations);
  const { full_feature_names: full } = readFields(body, FULL_NAMES, violations);
  const found = readFeatures(body, viewNames(views), violations);
  const features = found.map(({ view, feature, asked, pointer }): AskedFeature => {
    const name = full === true ? `${asked.view}__${asked.feature}` : asked.feature;
    return {
      name,
      view,
      feature,
      keys:
        read.entities !== undefined ? keysOf(view, types, { entities, refused }, pointer, violations) : [],
    };
  });
  checkNames(features, violations);
  const rows = entities[0]?.ids.length ?? 1;
  const values = features.reduce((sum, { feature }) => sum + sizeOf(feature), 0);
  if (rows > FEW_ROWS && rows * values > MAX_ONLINE_VALUES)
    violations.add(
      '/entities',
      'too_many',
      `at most ${MAX_ONLINE_VALUES} values in one answer, found ${rows} rows of ${values}; send fewer rows at a time`,
    );
  violations.throwIfAny('The body');
  return { rows, entities, features };
}

function* readEntities(
  value: JsonObject,
  refused: Set<string>,
  violations: Violations,
): Pieces<EntityColumn[]> {
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
    const ids: string[] = [];
    for (const [i, id] of sent.entries()) {
      ids.push(readId(id, name, pointer, i, violations));
      if (i % SLICE === SLICE - 1) yield;
    }
    columns.push({ name, sent, ids });
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
  /** The names that the request uses. */
  readonly asked: { readonly view: string; readonly feature: string };
  readonly pointer: string;
}

function readFeatures(body: JsonObject, names: ViewNames, violations: Violations): FoundFeature[] {
  const { count } = violations;
  const { feature_service: service } = readFields(body, SERVICE, violations);
  if (violations.count > count) return [];
  const asked = service === undefined ? body : { features: names.service(service) };
  const { features: list } = readFields(asked, FEATURES, violations);
  return [...(list ?? [])].flatMap((one: unknown, i) => {
    const pointer = pointerTo('/features', i);
    const found = typeof one === 'string' ? /^([^:]+):([^:]+)$/.exec(one) : null;
    if (found === null) {
      violations.add(pointer, 'wrong_type', `expected a feature as view:feature, found ${describe(one)}`);
      return [];
    }
    const [, viewName = '', name = ''] = found;
    const view = names.view(viewName, 'features');
    const feature = featureNamed(view, name);
    if (feature !== undefined) return [{ view, feature, asked: { view: viewName, feature: name }, pointer }];
    const own = [...view.features.keys()];
    const known = viewName === view.name ? own : own.map((one) => feastFeatureName(view, one));
    const help = didYouMean(name, known, AS_TEXT) ?? `it has ${known.join(', ')}`;
    violations.add(
      pointer,
      'unknown_feature',
      `view ${view.name} has no feature ${JSON.stringify(shownName(name))}; ${help}`,
    );
    return [];
  });
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
    const joinKey = joinKeyName(view, i) ?? key;
    const column = entities.find(({ name }) => name === joinKey) ?? entities.find(({ name }) => name === key);
    if (column !== undefined) return [column];
    if (refused.has(joinKey) || refused.has(key)) return [];
    const named = joinKey === key ? `"${key}"` : `"${joinKey}" or "${key}"`;
    const detail = `view ${view.name} is of (${view.of.join(', ')}), but entities has no ${named}`;
    violations.add(pointer, 'missing_id', detail);
    return [];
  });
}

function sizeOf({ type }: FeatureDefinition): number {
  return type.kind === 'vector' ? type.size : 1;
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
