import type { LayoutRegistry } from '../../../state/store/layout-registry.js';
import { inStoreSpan, traceBelow } from '../../../state/store/around.js';
import type { SpanHolder } from '../../../project/tracing/trace-span.js';
import type { DecodedHistories } from '../../resident/decoded-histories.js';
import type { PipelineServices } from '../pipeline-services.js';
import type { StageClock, StageRunner } from '../stage-runner.js';
import type { RequestContext } from '../types.js';
import { BatchRead } from './batch-read.js';
import type { CellRead } from './cell-read.js';
import type { ReadTime } from './read-deadline.js';
import { ResidentSession } from './resident-session.js';
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
  /** By default what is decoded of a history serves one request. */
  readonly histories?: DecodedHistories | undefined;
  /** Undefined if the stages are not timed. */
  readonly clock?: Pick<StageClock, 'count'> | undefined;
  /** Undefined if the request is not recorded. */
  readonly spans?: SpanHolder | undefined;
}

/** What one request reads through. @param time the deadline of its reads */
export function readsOf(
  { store, layouts, resident, readers, historyRetention, histories }: PipelineServices,
  stages: StageRunner,
  time: ReadTime,
  span: RequestContext['span'],
): ReadServices {
  const spans = span?.isRecorded === true ? stages : undefined;
  return {
    batch: new BatchRead(spans === undefined ? store : traceBelow(store, spans), time),
    layouts,
    resident: resident && new ResidentSession(resident),
    readers,
    historyRetention,
    histories,
    clock: stages.clock,
    spans,
  };
}

/** Loads the layouts of read records that this process does not know yet; undefined if it knows them all. */
export function resolveLayouts(
  reads: Iterable<CellRead>,
  { layouts, batch, spans }: ReadServices,
): Promise<void> | undefined {
  if (batch.keysRead === 0) return undefined;
  const missing = new Set<string>();
  for (const read of reads) read.missingLayouts(missing);
  if (missing.size === 0) return undefined;
  return inStoreSpan(spans, 'read', missing.size, () => batch.deadline.within(layouts.resolve(missing)));
}
