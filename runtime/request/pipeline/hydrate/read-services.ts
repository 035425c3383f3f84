import type { LayoutRegistry } from '../../../state/store/layout-registry.js';
import { within, type SpanHolder } from '../../../project/tracing/trace-span.js';
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
  /** By code: the number of a kind of feedback in the plan (`EventCodes.numbersOf`). */
  readonly eventNumbers?: Uint8Array | undefined;
  /** Undefined if the stages are not timed. */
  readonly clock?: Pick<StageClock, 'count'> | undefined;
  /** Undefined if the request is not recorded. */
  readonly spans?: SpanHolder | undefined;
}

/** Loads the layouts of read records that this process does not know yet. */
export async function resolveLayouts(
  reads: Iterable<CellRead>,
  { layouts, batch, spans }: ReadServices,
): Promise<void> {
  const missing = new Set<string>();
  for (const read of reads) read.missingLayouts(missing);
  if (missing.size > 0)
    await inStoreSpan(spans, 'read', missing.size, () => batch.deadline.within(layouts.resolve(missing)));
}

/** Runs a round trip that does not go through the store of `batch`, in a span of its own. */
export function inStoreSpan<T>(
  spans: SpanHolder | undefined,
  operation: string,
  keys: number | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const span = spans?.span?.startStore(operation, keys);
  return span === undefined ? work() : within(span, work);
}
