import { isKnown, Status, statusAt } from '../../../ground/api/status.js';
import { OWN_SLICE, soon, type Pieces } from '../../../ground/core/pieces.js';
import type { FeatureRead, Plan } from '../../compile/plan.js';
import { StatusCounts, type CountedNames } from '../../../state/index/status-counts.js';
import type { Frame } from '../../../language/frame/frame.js';
import { MANY_ELEMENTS, type CellRead } from '../hydrate/cell-read.js';
import { resolveLayouts, type ReadServices } from '../hydrate/read-services.js';
import { markUnread } from '../hydrate/store-loss.js';

/** The feature reads of one level: sent together with the reads of its entities, and not filled yet. */
export interface PendingFeatures {
  readonly reads: ReadonlyMap<FeatureRead, CellRead>;
  /** Resolves when all their records have arrived; undefined if they have. */
  readonly arrived: Promise<unknown> | undefined;
}

/** The number of values with each status. */
export interface ReadStatuses {
  /** By view. */
  readonly features: StatusCounts;
  /** Indexed attributes, by `type.attribute`. */
  readonly attributes: StatusCounts;
}

/**
 * Waits for the features of the last level and fills them; those of earlier levels are already filled. Afterwards no
 * record of the request enters the resident tables.
 * @returns how many values of each view and attribute have each status
 * @throws MillraceError store_unavailable, deadline_exceeded
 */
export function fetchFeatures(
  plan: Pick<Plan, 'levels'>,
  frame: Frame,
  pending: PendingFeatures,
  services: ReadServices,
): ReadStatuses | Promise<ReadStatuses> {
  const filled = (): ReadStatuses => {
    services.resident?.end();
    return countStatuses(plan, frame);
  };
  const filling = fillFeatures(frame, pending, services);
  return filling === undefined ? filled() : filling.then(filled);
}

/** Marks all cells that could not be read as failed. Returns the counts that `fetchFeatures` returns. */
export function unreadFeatures(plan: Pick<Plan, 'levels'>, frame: Frame): ReadStatuses {
  markUnread(plan, frame);
  return countStatuses(plan, frame);
}

/** The names that the requests of a plan count. */
const countedNames = new WeakMap<Plan['levels'], Record<keyof ReadStatuses, CountedNames>>();

function countStatuses({ levels }: Pick<Plan, 'levels'>, frame: Frame): ReadStatuses {
  let names = countedNames.get(levels);
  if (names === undefined) countedNames.set(levels, (names = { features: new Map(), attributes: new Map() }));
  const counts = {
    features: new StatusCounts(names.features),
    attributes: new StatusCounts(names.attributes),
  };
  for (const level of levels) {
    for (const { scope, wants } of level.nodes) {
      const rows = scope === 'candidate' ? frame.count : 1;
      for (const { indexed, label, slot } of wants) {
        const column = frame.columns[slot];
        if (indexed && column !== undefined) counts.attributes.count(label, column, rows);
      }
    }
    for (const { scope, group, wants } of level.features) {
      const columns = frame.groups[group] ?? [];
      const rows = scope === 'candidate' ? frame.count : 1;
      for (let i = 0; i < wants.length; i++) {
        const { feature } = wants[i] as (typeof wants)[number];
        const column = columns[i];
        if (column !== undefined) counts.features.count(feature.view.name, column, rows);
      }
    }
  }
  return counts;
}

/**
 * Fills features when their records have arrived: each with its status, the expiry of its view at the time of the request,
 * and its declared default. It returns a promise only if it has to wait.
 */
export function fillFeatures(
  frame: Frame,
  { reads, arrived }: PendingFeatures,
  services: ReadServices,
): Promise<void> | undefined {
  const { clock } = services;
  const fill = (): Promise<undefined> | undefined => soon(fillReads(frame, reads));
  const settle = (): Promise<undefined> | undefined => {
    const resolving = resolveLayouts(reads.values(), services);
    const end = clock === undefined ? fill : () => clock.count('features', fill);
    return resolving === undefined ? end() : resolving.then(end);
  };
  return arrived === undefined ? settle() : arrived.then(settle);
}

/** Only rows that repeat lists of many elements are divided among turns. */
function* fillReads(frame: Frame, reads: PendingFeatures['reads']): Pieces<undefined> {
  let elements = 0;
  for (const [read, cells] of reads) {
    const columns = frame.groups[read.group] ?? [];
    cells.begin();
    let row = Math.max(0, cells.fillRows?.(0) ?? 0);
    for (; row > 0 && row < cells.count; row = cells.fillRows?.(row) ?? row) yield OWN_SLICE;
    for (; row < cells.count; row++) {
      if (cells.hasId(row)) elements += cells.fill(row, true);
      else read.decoder.decodeMissing(causeOf(read, frame, row), columns, row);
      if (elements <= MANY_ELEMENTS) continue;
      yield OWN_SLICE;
      elements = 0;
    }
  }
  return undefined;
}

/** The reason why a feature is missing if an entity of its key has no id. */
function causeOf(read: FeatureRead, frame: Frame, row: number): number {
  let cause: number = Status.missing_feature;
  for (const slot of read.ids) {
    const column = frame.text(slot);
    const status = statusAt(column.status, row * column.stride);
    if (status === Status.failed) return Status.failed;
    if (!isKnown(status)) cause = Status.missing_entity;
  }
  return cause;
}
