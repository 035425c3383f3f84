import { isKnown, Status } from '../../api/status.js';
import type { FeatureRead, Plan } from '../../compile/plan.js';
import { StatusCounts } from '../../index/status-counts.js';
import type { Frame } from '../../frame/frame.js';
import type { CellRead } from '../hydrate/cell-read.js';

/** The feature reads whose records came along with the entities of the last level, and are still to be filled. */
export type FeatureRecords = ReadonlyMap<FeatureRead, CellRead>;

/**
 * Fills batch features from the records that came with the entities: each with its status, its view's expiry at the
 * request's time, and its declared default.
 */
export function fetchFeatures(frame: Frame, records: FeatureRecords): void {
  for (const [read, cells] of records) {
    const columns = frame.groups[read.group] ?? [];
    cells.begin();
    for (let row = 0; row < cells.count; row++) {
      if (cells.hasId(row)) cells.fill(row, true);
      else read.decoder.decodeMissing(causeOf(read, frame, row), columns, row);
    }
  }
}

/** How many values of each view have which status. */
export function countStatuses(plan: Plan, frame: Frame): StatusCounts {
  const counts = new StatusCounts();
  for (const level of plan.levels) {
    for (const { scope, group, wants } of level.features) {
      const columns = frame.groups[group] ?? [];
      const rows = scope === 'candidate' ? frame.count : 1;
      wants.forEach(({ feature }, i) => {
        const column = columns[i];
        if (column !== undefined) counts.count(feature.view.name, column, rows);
      });
    }
  }
  return counts;
}

/** Some entity of the key has no id; why it has none is why the feature is missing. */
function causeOf(read: FeatureRead, frame: Frame, row: number): number {
  let cause: number = Status.missing_feature;
  for (const slot of read.ids) {
    const column = frame.text(slot);
    const status = column.status[row * column.stride] ?? Status.absent;
    if (status === Status.failed) return Status.failed;
    if (!isKnown(status)) cause = Status.missing_entity;
  }
  return cause;
}
