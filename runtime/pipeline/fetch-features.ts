import { isKnown, Status } from '../api/status.js';
import type { Plan } from '../compile/plan.js';
import type { Frame } from '../frame/frame.js';
import type { BatchRead } from './batch-read.js';
import type { FeatureRecords } from './hydrate.js';

/**
 * Fills batch features from the records that came with the entities: each with its status, its view's expiry at the
 * request's time, and its declared default.
 */
export function fetchFeatures(plan: Plan, frame: Frame, records: FeatureRecords, batch: BatchRead): void {
  for (const level of plan.levels) {
    for (const read of level.features) {
      const numbers = records.get(read);
      const columns = frame.groups[read.group] ?? [];
      const ids = read.ids.map((slot) => frame.text(slot));
      for (let row = 0; row < (numbers?.length ?? 0); row++) {
        const number = numbers?.[row] ?? -1;
        if (number >= 0) {
          read.decoder.decode(batch.record(number), columns, row, frame.now);
          continue;
        }
        // Some entity of the key has no id; why it has none is why the feature is missing.
        let cause: number = Status.missing_feature;
        for (const column of ids) {
          const status = column.status[row * column.stride] ?? Status.absent;
          if (!isKnown(status)) cause = status === Status.failed ? Status.failed : Status.missing_entity;
        }
        read.decoder.decodeMissing(cause, columns, row);
      }
    }
  }
}
