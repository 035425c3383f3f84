import { isKnown, Status, statusAt } from '../../../ground/api/status.js';
import type { FeatureRead } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { CellRead } from '../hydrate/cell-read.js';
import { resolveLayouts, type ReadServices } from '../hydrate/read-services.js';

/** The feature reads of one level: sent together with the reads of its entities, and not filled yet. */
export interface PendingFeatures {
  readonly reads: ReadonlyMap<FeatureRead, CellRead>;
  /** Resolves when all their records have arrived. */
  readonly arrived: Promise<unknown>;
}

/**
 * Waits for the records of features and fills the features: each with its status, the expiry of its view at the time of
 * the request, and its declared default.
 */
export async function fillFeatures(
  frame: Frame,
  { reads, arrived }: PendingFeatures,
  services: ReadServices,
): Promise<void> {
  await arrived;
  await resolveLayouts(reads.values(), services);
  const fill = (): void => {
    for (const [read, cells] of reads) fillRead(frame, read, cells);
  };
  if (services.clock === undefined) fill();
  else services.clock.count('features', fill);
}

function fillRead(frame: Frame, read: FeatureRead, cells: CellRead): void {
  const columns = frame.groups[read.group] ?? [];
  cells.begin();
  for (let row = 0; row < cells.count; row++) {
    if (cells.hasId(row)) cells.fill(row, true);
    else read.decoder.decodeMissing(causeOf(read, frame, row), columns, row);
  }
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
