import { MillraceError } from '../../../ground/api/errors.js';
import type { JsonObject, JsonValue, ValueType } from '../../../ground/api/types.js';
import { timeText } from '../../../ground/core/timestamp.js';
import { idText } from '../../../ground/core/ids.js';
import { isJsonObject } from '../../../ground/core/value-fit.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { FeatureRead, HydrationNode, Plan } from '../../compile/plan.js';
import { readCell } from '../components/step-view.js';
import type { MadeCase } from './made-case.js';
import type { FinishedRun } from './finished-run.js';
import { rowKeys } from '../../../state/index/row-keys.js';

type Entities = Map<string, Map<string, Record<string, JsonValue>>>;

/**
 * Makes a case of a finished ranking: the values that it read, its request, and what it answered. Models are replaced by what
 * they answered.
 * @param body of the request
 * @throws MillraceError test_not_kept if a test cannot give what the ranking read
 */
export function caseOfRun(
  { plan, frame, request: { ids }, ranking, page }: FinishedRun,
  body: JsonObject,
): MadeCase {
  const types = plan.entities;
  const [history] = plan.levels.flatMap(({ histories }) => histories);
  if (history !== undefined)
    throw new MillraceError(
      'test_not_kept',
      `a step counts the interactions of ${history.of}, which a test cannot give`,
    );
  const notes = new Set<string>();
  const entities: Entities = new Map();
  for (const node of plan.nodes) addEntities(plan, node, frame, types, { entities, notes });
  const features = new Map<string, Map<string, Record<string, JsonValue>>>();
  for (const { features: reads } of plan.levels)
    for (const read of reads) addRows(plan, read, frame, types, { features, notes });
  const kept = new Set([...ranking.rows].map((row) => ids[row] ?? ''));
  const removed = ids.filter((id) => !kept.has(id));
  const idOf = (row: number): string => ids[row] ?? '';
  const { key } = plan.candidateType;
  const sent = new Map(sentCandidates(body, key));
  const asked = Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'candidates'));
  return {
    time: timeText(frame.now),
    given: {
      entities: listed(entities),
      ...(features.size === 0 ? {} : { features: listed(features) }),
      ...outputsOf(plan, frame, ids),
    },
    request: { ...asked, candidates: ids.map((id) => sent.get(id) ?? { [key]: id }) },
    expect: {
      order: page.map(({ row }) => idOf(row)),
      scores: Object.fromEntries(
        page.map(({ row, score }) => [idOf(row), Number.isNaN(score) ? null : score]),
      ),
      ...(removed.length === 0 ? {} : { removed }),
    },
    notes: [...notes],
  };
}

function sentCandidates(body: JsonObject, key: string): (readonly [string, JsonObject])[] {
  const list = body['candidates'];
  if (!Array.isArray(list)) return [];
  return (list as readonly JsonValue[]).flatMap((one) =>
    isJsonObject(one) ? [[idText(one[key]) ?? '', one] as const] : [],
  );
}

function listed(of: ReadonlyMap<string, ReadonlyMap<string, JsonObject>>): JsonObject {
  return Object.fromEntries([...of].map(([name, items]) => [name, [...items.values()]]));
}

function rowsOf(scope: 'request' | 'candidate', frame: Frame): Iterable<number> {
  return Array.from({ length: scope === 'request' ? 1 : frame.count }).keys();
}

/** The entities of a node with the attributes that the plan reads. One that the index does not have is not given. */
function addEntities(
  plan: Plan,
  node: HydrationNode,
  frame: Frame,
  types: ReadonlyMap<string, EntityType>,
  { entities, notes }: { readonly entities: Entities; readonly notes: Set<string> },
): void {
  const type = node.entity.name;
  const isHidden = (slot: number): boolean => plan.layout.columns[slot]?.isPrivate === true;
  if (node.wants.some(({ slot }) => isHidden(slot))) notes.add(`private attributes of ${type} are left out`);
  const known = entities.get(type) ?? new Map<string, Record<string, JsonValue>>();
  for (const row of rowsOf(node.scope, frame)) {
    const ids = idsAt(frame, node.ids, row);
    giveReferences(node, frame, row, entities);
    for (const [at, id] of ids.entries()) {
      const cells = node.wants.filter(({ indexed, slot }) => indexed && !isHidden(slot));
      const values = cells.map((want) => ({ want, cell: readCell(frame, want.slot, row) }));
      const isMissing = values.length > 0 && values.every(({ cell }) => cell.status === 'missing_entity');
      if (isMissing || (values.length === 0 && node.wants.length > 0)) continue;
      const entity = known.get(id) ?? { [types.get(type)?.key ?? `${type}_id`]: id };
      known.set(id, entity);
      for (const { want, cell } of values) {
        if (want.list) notes.add(`${type}.${want.path.join('.')} is left out: it is in a list`);
        else if (cell.status === 'null') put(entity, want.path, null);
        else if (cell.value !== undefined && cell.cause === undefined) {
          const value: typeof cell.value | undefined =
            node.list && typeof cell.value === 'object' ? cell.value[at] : cell.value;
          if (value !== undefined) put(entity, want.path, jsonOf(value, want.type));
        }
      }
    }
  }
  if (known.size > 0) entities.set(type, known);
}

/** The entity that a node's entities are referred from has their ids. */
function giveReferences(
  { parent, ids, list }: HydrationNode,
  frame: Frame,
  row: number,
  entities: Entities,
): void {
  if (parent === undefined || parent.node.list) return;
  const [holder] = idsAt(frame, parent.node.ids, parent.node.scope === 'request' ? 0 : row);
  const of = holder === undefined ? undefined : entities.get(parent.node.entity.name)?.get(holder);
  const referred = idsAt(frame, ids, row);
  if (of !== undefined && referred.length > 0) put(of, parent.path, list ? referred : (referred[0] ?? null));
}

function idsAt(frame: Frame, slot: number, row: number): string[] {
  const { value } = readCell(frame, slot, row);
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.map(String) : [];
}

function put(entity: Record<string, JsonValue>, path: readonly string[], value: JsonValue): void {
  let holder = entity;
  for (const name of path.slice(0, -1)) {
    const inner = holder[name];
    if (!isJsonObject(inner)) holder[name] = {};
    holder = holder[name] as Record<string, JsonValue>;
  }
  const last = path.at(-1);
  if (last !== undefined) holder[last] = value;
}

/** Booleans and times are numbers in a frame. */
function jsonOf(value: number | string | readonly (number | string)[], { kind }: ValueType): JsonValue {
  if (kind === 'bool') return value === 1;
  if (kind === 'timestamp' && typeof value === 'number') return timeText(value);
  return typeof value === 'object' ? [...value] : value;
}

/** The rows of a read of feature records, with the features that have a value. */
function addRows(
  plan: Plan,
  { ids, wants, scope }: FeatureRead,
  frame: Frame,
  types: ReadonlyMap<string, EntityType>,
  { features, notes }: { readonly features: Entities; readonly notes: Set<string> },
): void {
  for (const row of rowsOf(scope, frame)) {
    const keys = ids.map((slot) =>
      idsAt(frame, slot, plan.layout.columns[slot]?.shape.scope === 'request' ? 0 : row),
    );
    if (keys.some(({ length }) => length !== 1)) continue;
    for (const { slot, feature } of wants) {
      const { view, feature: definition } = feature;
      if (plan.layout.columns[slot]?.isPrivate === true) {
        notes.add(`the private feature ${view.name}:${definition.name} is left out`);
        continue;
      }
      const { value, cause } = readCell(frame, slot, row);
      if (value === undefined || cause !== undefined) continue;
      const rows = features.get(view.name) ?? new Map<string, Record<string, JsonValue>>();
      features.set(view.name, rows);
      const key = JSON.stringify(keys);
      const names = rowKeys(view, types);
      const given = rows.get(key) ?? Object.fromEntries(names.map((name, at) => [name, keys[at]?.[0] ?? '']));
      rows.set(key, { ...given, [definition.name]: jsonOf(value, definition.type) });
    }
  }
}

/** What the models answered, which replaces them. */
function outputsOf(plan: Plan, frame: Frame, ids: readonly string[]): { readonly outputs?: JsonObject } {
  const outputs = plan.steps.flatMap(({ kind, as, outputs: slots }) =>
    kind !== 'model'
      ? []
      : [...slots].flatMap(([name, slot]) => {
          const values = ids.flatMap((id, row) => {
            const { value } = readCell(frame, slot, row);
            return typeof value === 'object' || value === undefined ? [] : [[id, value] as const];
          });
          return values.length === 0 ? [] : [[`${as}:${name}`, Object.fromEntries(values)] as const];
        }),
  );
  return outputs.length === 0 ? {} : { outputs: Object.fromEntries(outputs) };
}
