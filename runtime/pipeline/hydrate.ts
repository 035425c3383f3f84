import { isKnown, Status } from '../api/status.js';
import type { FeatureRead, HydrationNode, Plan, WantedAttribute } from '../compile/plan.js';
import { appendCell, appendNumbers, copyCell, writeJson, writeMissing } from '../frame/cells.js';
import { looseColumn, type Frame } from '../frame/frame.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import { featureKey } from '../store/keys.js';
import type { BatchRead } from './batch-read.js';
import { carriedChildren, carriedValue, type CarriedRows } from './carried.js';
import type { RankingRequest } from './read-request.js';

/** Record numbers of a node or a feature read, by row (by element for a node of lists); -1 where there is no id. */
type RecordNumbers = Int32Array;

/** The feature records that came along with the entities. */
export type FeatureRecords = ReadonlyMap<FeatureRead, RecordNumbers>;

/**
 * Fills the request's entities from the index: one round trip a level, each entity read once, the feature records of
 * the same level in the same round trip.
 */
export async function hydrate(
  plan: Plan,
  frame: Frame,
  request: RankingRequest,
  batch: BatchRead,
  layouts: LayoutRegistry,
): Promise<FeatureRecords> {
  const carried: (CarriedRows | undefined)[] = [];
  const features = new Map<FeatureRead, RecordNumbers>();
  for (const node of plan.nodes) {
    carried[node.index] = node.parent === undefined ? request.carried.get(node.name) : undefined;
    if (node.parent === undefined) fillCarriedOnly(node, frame, carried[node.index], plan);
  }
  for (const level of plan.levels) {
    const numbers = level.nodes.map((node) => askForEntities(node, frame, batch));
    for (const read of level.features) features.set(read, askForFeatures(read, plan.prefix, frame, batch));
    await batch.roundTrip();
    await resolveLayouts(level.nodes, numbers, level.features, features, batch, layouts);
    level.nodes.forEach((node, i) => {
      const { parent } = node;
      if (parent !== undefined) {
        const above = carried[parent.node.index];
        carried[node.index] = above && carriedChildren(above, parent.path);
      }
      fillNode(node, frame, numbers[i] ?? new Int32Array(0), batch, carried[node.index], plan);
    });
  }
  return features;
}

function rowsOf(scope: 'request' | 'candidate', frame: Frame): number {
  return scope === 'candidate' ? frame.count : 1;
}

function askForEntities(node: HydrationNode, frame: Frame, batch: BatchRead): RecordNumbers {
  const { status } = frame.columns[node.ids] ?? frame.text(node.ids);
  const values = node.list ? frame.texts(node.ids).values : frame.text(node.ids).values;
  const length = node.list ? values.length : rowsOf(node.scope, frame);
  const numbers = new Int32Array(length);
  for (let i = 0; i < length; i++) {
    const id = values[i] ?? '';
    const known = id !== '' && (node.list || isKnown(status[i] ?? Status.absent));
    if (!known) numbers[i] = -1;
    else numbers[i] = node.distinct ? batch.askDistinct(node.keyPrefix + id) : batch.ask(node.keyPrefix + id);
  }
  return numbers;
}

function askForFeatures(read: FeatureRead, prefix: string, frame: Frame, batch: BatchRead): RecordNumbers {
  const columns = read.ids.map((slot) => frame.text(slot));
  const numbers = new Int32Array(rowsOf(read.scope, frame));
  const ids = new Array<string>(columns.length);
  for (let row = 0; row < numbers.length; row++) {
    let known = true;
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i];
      const id = column?.values[row * column.stride] ?? '';
      if (id === '') known = false;
      ids[i] = id;
    }
    if (!known) {
      numbers[row] = -1;
      continue;
    }
    const key = featureKey(prefix, read.keyGroup, read.types, ids);
    numbers[row] = read.distinct ? batch.askDistinct(key) : batch.ask(key);
  }
  return numbers;
}

/** Records may have been written under layouts that this process has not met. */
async function resolveLayouts(
  nodes: readonly HydrationNode[],
  numbers: readonly RecordNumbers[],
  reads: readonly FeatureRead[],
  features: ReadonlyMap<FeatureRead, RecordNumbers>,
  batch: BatchRead,
  layouts: LayoutRegistry,
): Promise<void> {
  const missing = new Set<string>();
  const look = (
    decoder: { missingLayouts(record: Buffer, into: Set<string>): void },
    of: RecordNumbers,
  ): void => {
    for (const number of of) {
      const record = number < 0 ? null : batch.record(number);
      if (record !== null) decoder.missingLayouts(record, missing);
    }
  };
  nodes.forEach((node, i) => look(node.decoder, numbers[i] ?? new Int32Array(0)));
  for (const read of reads) look(read.decoder, features.get(read) ?? new Int32Array(0));
  if (missing.size > 0) await layouts.resolve(missing);
}

/** Attributes that no index has: what the request does not carry is absent. */
function fillCarriedOnly(
  node: HydrationNode,
  frame: Frame,
  carried: CarriedRows | undefined,
  plan: Plan,
): void {
  if (carried === undefined) return;
  for (const want of node.wants) {
    if (want.indexed) continue;
    for (let row = 0; row < rowsOf(node.scope, frame); row++) {
      if (!writeCarried(want, node, frame, row, carried[row], plan)) {
        const column = frame.columns[want.slot];
        if (column !== undefined) writeMissing(column, row, Status.absent);
      }
    }
  }
}

function fillNode(
  node: HydrationNode,
  frame: Frame,
  numbers: RecordNumbers,
  batch: BatchRead,
  carried: CarriedRows | undefined,
  plan: Plan,
): void {
  if (node.list) {
    fillListNode(node, frame, numbers, batch, carried, plan);
    return;
  }
  const columns = frame.groups[node.group] ?? [];
  const ids = frame.columns[node.ids];
  const repeated = node.parent === undefined ? undefined : new Map<number, number>();
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row] ?? -1;
    const first = repeated?.get(number);
    if (number < 0) {
      const status = ids?.status[row] ?? Status.absent;
      for (const column of columns)
        writeMissing(column, row, isKnown(status) ? Status.missing_entity : status);
    } else if (first !== undefined) {
      for (const column of columns) copyCell(column, first, column, row);
    } else {
      node.decoder.decode(batch.record(number), columns, row);
    }
    const object = carried?.[row];
    if (object === undefined) {
      if (number >= 0 && first === undefined) repeated?.set(number, row);
    } else {
      for (const want of node.wants) if (want.indexed) writeCarried(want, node, frame, row, object, plan);
    }
  }
}

/** Writes what the request carries of an attribute; false if it carries nothing. */
function writeCarried(
  want: WantedAttribute,
  node: HydrationNode,
  frame: Frame,
  row: number,
  object: CarriedRows[number],
  plan: Plan,
): boolean {
  if (object === undefined || Array.isArray(object)) return false;
  const value = carriedValue(object as never, want.path, want.type, plan.entities);
  const column = frame.columns[want.slot];
  if (value === undefined || column === undefined) return false;
  writeJson(column, row, value);
  return true;
}

/** A row holds several entities: each is decoded once beside the frame, then gathered. */
function fillListNode(
  node: HydrationNode,
  frame: Frame,
  numbers: RecordNumbers,
  batch: BatchRead,
  carried: CarriedRows | undefined,
  plan: Plan,
): void {
  const wants = node.wants.filter((want) => want.indexed);
  const elements = wants.map((want) => looseColumn(want.element, numbers.length));
  const ids = frame.texts(node.ids);
  for (let row = 0; row < rowsOf(node.scope, frame); row++) {
    const objects = carried?.[row];
    const start = ids.offsets[row] ?? 0;
    for (let i = start; i < (ids.offsets[row + 1] ?? 0); i++) {
      const number = numbers[i] ?? -1;
      if (number < 0) for (const column of elements) writeMissing(column, i, Status.missing_entity);
      else node.decoder.decode(batch.record(number), elements, i);
      const object = Array.isArray(objects) ? (objects as readonly unknown[])[i - start] : undefined;
      if (object === undefined) continue;
      wants.forEach((want, w) => {
        const value = carriedValue(object as never, want.path, want.type, plan.entities);
        const column = elements[w];
        if (value !== undefined && column !== undefined) writeJson(column, i, value);
      });
    }
    wants.forEach((want, w) => {
      const from = elements[w];
      const to = frame.columns[want.slot];
      if (from === undefined || to === undefined) return;
      to.status[row] = ids.status[row] ?? Status.absent;
      const end = ids.offsets[row + 1] ?? 0;
      if (to.kind === 'texts') {
        for (let i = start; i < end; i++) appendCell(from, i, to);
        to.offsets[row + 1] = to.values.length;
      } else if (to.kind === 'numbers') {
        let at = to.offsets[row] ?? 0;
        for (let i = start; i < end; i++) at = appendNumbers(from, i, to, at);
        to.offsets[row + 1] = at;
      }
    });
  }
}
