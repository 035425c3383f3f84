import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Column, ColumnOf } from '../../../ground/api/columns.js';
import { isKnown, Status, statusAt } from '../../../ground/api/status.js';
import type { HydrationNode, Plan, WantedAttribute } from '../../compile/plan.js';
import { appendCell, appendNumbers, writeJson, writeMissing } from '../../../language/frame/cells.js';
import { looseColumn, type FacetEvents, type Frame } from '../../../language/frame/frame.js';
import { carriedChildren, carriedValue, type CarriedRows } from '../request/carried.js';
import { MANY_ELEMENTS, MANY_ROWS, type CellRead } from './cell-read.js';
import { fillFeatures, type PendingFeatures } from '../features/fetch-features.js';
import { LevelReads } from './level-reads.js';
import type { RankingRequest } from '../request/read-request.js';
import { HistoryEvents } from '../../../state/store/codec/history-record.js';
import { inStoreSpan } from '../../../state/store/around.js';
import { resolveLayouts, type ReadServices } from './read-services.js';

const NO_READS: PendingFeatures['reads'] = new Map();

/** The part of a plan that describes how entities are filled. */
export type HydrationPlan = Pick<Plan, 'nodes' | 'levels' | 'entities' | 'prefix'>;

/**
 * Fills the entities of a request from the index. Each level needs one round trip, which reads each entity once and
 * also the feature records of that level; no round trip is made if the resident tables hold all of them. The features
 * of a level are filled while the next level is in flight.
 * @returns the features of the last level, for `fetchFeatures`
 * @throws MillraceError store_unavailable, deadline_exceeded
 */
export async function hydrate(
  plan: HydrationPlan,
  frame: Frame,
  request: Pick<RankingRequest, 'carried'>,
  services: ReadServices,
): Promise<PendingFeatures> {
  const carried: (CarriedRows | undefined)[] = [];
  const elementsOf: (readonly Column[] | undefined)[] = [];
  frame.eventsSince = frame.now - (services.historyRetention ?? Infinity);
  let features = NO_READS;
  for (const node of plan.nodes) {
    const { parent } = node;
    const above = parent && carried[parent.node.index];
    if (parent === undefined) {
      carried[node.index] = request.carried.get(node.name);
      fillCarriedOnly(node, frame, carried[node.index], plan);
    } else if (!parent.node.list)
      carried[node.index] = above && carriedChildren(above, parent.path, undefined);
  }
  for (const level of plan.levels) {
    const earlier: PendingFeatures = { reads: features, arrived: services.batch.rest() };
    const renewal = services.resident?.renewal();
    if (renewal !== undefined)
      await inStoreSpan(services.spans, 'confirm', undefined, () => services.batch.deadline.within(renewal));
    const ask = new LevelReads(plan.prefix, frame, services);
    const nodes = level.nodes.map((node) => {
      const elements = node.list ? elementColumns(node, frame) : undefined;
      return { node, elements, cells: ask.entities(node, elements ?? frame.groups[node.group] ?? []) };
    });
    const histories = level.histories.map((read) => ({ read, number: ask.history(read) }));
    // The next level needs no features, so they arrive and are filled while it is in flight.
    services.batch.defer();
    features =
      level.features.length === 0
        ? NO_READS
        : new Map(level.features.map((read) => [read, ask.features(read, frame.groups[read.group] ?? [])]));
    const trip = ask.roundTrip();
    trip?.catch(() => undefined); // awaited below, unless the earlier features fail first
    const filling = earlier.reads.size > 0 ? fillFeatures(frame, earlier, services) : undefined;
    if (filling !== undefined) await filling;
    if (trip !== undefined) await trip;
    for (const { read, number } of histories)
      frame.histories[read.index] = number < 0 ? undefined : historyOf(number, services);
    const resolving = resolveLayouts(
      nodes.map(({ cells }) => cells),
      services,
    );
    if (resolving !== undefined) await resolving;
    if (nodes.some(({ cells }) => cells.count > MANY_ROWS)) await nextTurn();
    for (const { node, elements, cells } of nodes) {
      const { parent, entity } = node;
      const missing = cells.missing();
      if (missing > 0)
        services.batch.missing.set(entity.name, (services.batch.missing.get(entity.name) ?? 0) + missing);
      elementsOf[node.index] = elements;
      if (parent?.node.list === true) {
        const above = carried[parent.node.index];
        const sizes = sizesBelow(parent, frame, elementsOf[parent.node.index]);
        carried[node.index] = above && carriedChildren(above, parent.path, sizes);
      }
      if (elements === undefined) {
        const filled = { node, cells, carried: carried[node.index] };
        for (
          let row = fillNode(filled, 0, frame, plan);
          row < cells.count;
          row = fillNode(filled, row, frame, plan)
        )
          await nextTurn();
      } else fillListNode(node, frame, elements, cells, carried[node.index], plan);
    }
    if (nodes.some(({ node, cells }) => hasLongLists(frame.groups[node.group] ?? [], cells.count)))
      await nextTurn();
  }
  return { reads: features, arrived: services.batch.rest() };
}

function historyOf(number: number, { batch, histories }: ReadServices): FacetEvents | null {
  const record = batch.records.record(number);
  return record && (histories?.of(record) ?? new HistoryEvents(record));
}

/** Whether the columns got so many elements that the work on them must not run in the same turn. */
function hasLongLists(columns: readonly Column[], rows: number): boolean {
  for (const column of columns)
    if (
      (column.kind === 'texts' || column.kind === 'numbers') &&
      (column.offsets[rows * column.stride] ?? 0) > MANY_ELEMENTS
    )
      return true;
  return false;
}

/** The number of elements of the list in a cell; 0 for other values. */
function lengthAt(column: Column | undefined, row: number): number {
  if (column?.kind !== 'texts' && column?.kind !== 'numbers') return 0;
  return (column.offsets[row + 1] ?? 0) - (column.offsets[row] ?? 0);
}

function rowsOf(scope: 'request' | 'candidate', frame: Frame): number {
  return scope === 'candidate' ? frame.count : 1;
}

/** Fills attributes that are not indexed: they are absent unless the request carries them. */
function fillCarriedOnly(
  node: HydrationNode,
  frame: Frame,
  carried: CarriedRows | undefined,
  plan: HydrationPlan,
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

/** A node to fill, and where its values come from. */
interface Filled {
  readonly node: HydrationNode;
  readonly cells: CellRead;
  readonly carried: CarriedRows | undefined;
}

/** Fills some rows. @returns the row to go on with in another turn */
function fillNode({ node, cells, carried }: Filled, from: number, frame: Frame, plan: HydrationPlan): number {
  const columns = frame.groups[node.group] ?? [];
  const ids = frame.columns[node.ids];
  if (from === 0) cells.begin();
  const filled = carried === undefined ? (cells.fillRows?.(from) ?? -1) : -1;
  if (filled >= 0) return filled;
  const end = Math.min(from + MANY_ROWS, cells.count);
  let elements = 0;
  for (let row = from; row < end; row++) {
    if (elements > MANY_ELEMENTS) return row;
    const object = carried?.[row];
    if (cells.hasId(row)) elements += cells.fill(row, object === undefined);
    else {
      const status = ids?.status[row] ?? Status.absent;
      for (const column of columns)
        writeMissing(column, row, isKnown(status) ? Status.missing_entity : status);
    }
    if (object === undefined) continue;
    for (const want of node.wants)
      if (want.indexed && writeCarried(want, node, frame, row, object, plan))
        elements += lengthAt(frame.columns[want.slot], row);
  }
  return end;
}

/** Writes the value of an attribute that the request carries; false if it carries none. */
function writeCarried(
  want: WantedAttribute,
  node: HydrationNode,
  frame: Frame,
  row: number,
  object: CarriedRows[number],
  plan: HydrationPlan,
): boolean {
  if (object === undefined || Array.isArray(object)) return false;
  const value = carriedValue(object as never, want.path, want.type, plan.entities);
  const column = frame.columns[want.slot];
  if (value === undefined || column === undefined) return false;
  writeJson(column, row, value);
  return true;
}

/** The number of references in each element of a list, which maps carried objects to their elements. */
function sizesBelow(
  { node, path }: NonNullable<HydrationNode['parent']>,
  frame: Frame,
  elements: readonly Column[] | undefined,
): ((row: number, element: number) => number) | undefined {
  if (elements === undefined) return undefined;
  const wants = node.wants.filter((want) => want.indexed);
  const column = elements[wants.findIndex((want) => want.path.join() === path.join())];
  if (column?.kind !== 'texts') return undefined;
  const { offsets } = frame.texts(node.ids);
  return (row, element) => {
    const at = (offsets[row] ?? 0) + element;
    return (column.offsets[at + 1] ?? 0) - (column.offsets[at] ?? 0);
  };
}

/**
 * Columns outside the frame for the entities of lists, one after another; their values are gathered into the frame
 * later.
 */
function elementColumns(node: HydrationNode, frame: Frame): Column[] {
  const { length } = frame.texts(node.ids).values;
  return node.wants.filter((want) => want.indexed).map((want) => looseColumn(want.element, length));
}

function fillListNode(
  node: HydrationNode,
  frame: Frame,
  elements: readonly Column[],
  cells: CellRead,
  carried: CarriedRows | undefined,
  plan: HydrationPlan,
): void {
  const wants = node.wants.filter((want) => want.indexed);
  const ids = frame.texts(node.ids);
  cells.begin();
  for (let row = 0; row < rowsOf(node.scope, frame); row++) {
    const objects = carried?.[row];
    const start = ids.offsets[row] ?? 0;
    for (let i = start; i < (ids.offsets[row + 1] ?? 0); i++) {
      const object = Array.isArray(objects) ? (objects as readonly unknown[])[i - start] : undefined;
      if (cells.hasId(i)) cells.fill(i, object === undefined);
      else for (const column of elements) writeMissing(column, i, Status.missing_entity);
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
      if (from !== undefined && to !== undefined) gatherRow(ids, row, from, to);
    });
  }
}

/** Gathers the elements of one row into its cell. */
function gatherRow(ids: ColumnOf<'texts'>, row: number, from: Column, to: Column): void {
  to.status[row] = statusAt(ids.status, row);
  const end = ids.offsets[row + 1] ?? 0;
  if (to.kind === 'texts') {
    for (let i = ids.offsets[row] ?? 0; i < end; i++) appendCell(from, i, to);
    to.offsets[row + 1] = to.values.length;
  } else if (to.kind === 'numbers') {
    let at = to.offsets[row] ?? 0;
    for (let i = ids.offsets[row] ?? 0; i < end; i++) at = appendNumbers(from, i, to, at);
    to.offsets[row + 1] = at;
  }
}
