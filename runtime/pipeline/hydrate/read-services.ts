import type { LayoutRegistry } from '../../store/layout-registry.js';
import type { StageClock } from '../stages.js';
import type { BatchRead } from './batch-read.js';
import type { CellRead } from './cell-read.js';
import type { ResidentSession } from './resident-session.js';
import type { SourceReaders } from './source-cells.js';

/** The services that a request reads through. */
export interface ReadServices {
  readonly batch: BatchRead;
  readonly layouts: LayoutRegistry;
  /** Undefined if nothing is kept in process. */
  readonly resident: ResidentSession | undefined;
  /** Readers of features outside the store. */
  readonly readers?: SourceReaders | undefined;
  /** How long feedback events count, in milliseconds; by default without end. */
  readonly historyRetention?: number | undefined;
  /** Undefined if the stages are not timed. */
  readonly clock?: Pick<StageClock, 'count'> | undefined;
}

/** Loads the layouts of read records that this process does not know yet. */
export async function resolveLayouts(
  reads: Iterable<CellRead>,
  { layouts, batch }: ReadServices,
): Promise<void> {
  const missing = new Set<string>();
  for (const read of reads) read.missingLayouts(missing);
  if (missing.size > 0) await batch.deadline.within(layouts.resolve(missing));
}
