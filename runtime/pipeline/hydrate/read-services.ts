import type { LayoutRegistry } from '../../store/layout-registry.js';
import type { StageClock } from '../stages.js';
import type { BatchRead } from './batch-read.js';
import type { CellRead } from './cell-read.js';
import type { ResidentSession } from './resident-session.js';
import type { SourceReaders } from './source-cells.js';

/** What a request's reads go through. */
export interface ReadServices {
  readonly batch: BatchRead;
  readonly layouts: LayoutRegistry;
  /** Undefined where nothing is kept in process. */
  readonly resident: ResidentSession | undefined;
  /** Of features that are kept outside the store. */
  readonly readers?: SourceReaders | undefined;
  /** Undefined where the time of the stages is not measured. */
  readonly clock?: Pick<StageClock, 'count'> | undefined;
}

/** Records may have been written under layouts that this process has not met. */
export async function resolveLayouts(
  reads: Iterable<CellRead>,
  { layouts, batch }: ReadServices,
): Promise<void> {
  const missing = new Set<string>();
  for (const read of reads) read.missingLayouts(missing);
  if (missing.size > 0) await batch.deadline.within(layouts.resolve(missing));
}
