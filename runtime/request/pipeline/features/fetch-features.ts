import type { Plan } from '../../compile/plan.js';
import { StatusCounts } from '../../../state/index/status-counts.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { ReadServices } from '../hydrate/read-services.js';
import { markUnread } from '../hydrate/store-loss.js';
import { fillFeatures, type PendingFeatures } from './fill-features.js';

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
export async function fetchFeatures(
  plan: Pick<Plan, 'levels'>,
  frame: Frame,
  pending: PendingFeatures,
  services: ReadServices,
): Promise<ReadStatuses> {
  await fillFeatures(frame, pending, services);
  services.resident?.end();
  return countStatuses(plan, frame);
}

/** Marks all cells that could not be read as failed. Returns the counts that `fetchFeatures` returns. */
export function unreadFeatures(plan: Pick<Plan, 'levels'>, frame: Frame): ReadStatuses {
  markUnread(plan, frame);
  return countStatuses(plan, frame);
}

function countStatuses({ levels }: Pick<Plan, 'levels'>, frame: Frame): ReadStatuses {
  const counts = { features: new StatusCounts(), attributes: new StatusCounts() };
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
      wants.forEach(({ feature }, i) => {
        const column = columns[i];
        if (column !== undefined) counts.features.count(feature.view.name, column, rows);
      });
    }
  }
  return counts;
}
