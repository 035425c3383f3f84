import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { MillraceError } from '../../api/errors.js';
import { describeError } from '../../core/describe-error.js';
import type { BadRow, InputRow } from '../input/rows.js';
import { MAX_ROWS } from '../load/batches.js';
import { sendBatch } from '../load/send-batch.js';
import type { DataTarget } from '../load/target.js';
import { readEntry, type StreamEntry } from './entry.js';
import type { FeatureStream, RejectedEntry } from './feature-stream.js';

const WAIT_MS = 1000;
const LONGEST_PAUSE_MS = 5000;
const REPORT_MS = 10_000;

export interface ConsumeOptions {
  /** A consumer that holds an entry for this long counts as dead; milliseconds. */
  readonly claimIdleMs: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Counts of entries, by outcome. */
export interface ConsumeTotals {
  stored: number;
  /** Skipped, because the store has a row with a later event time. */
  older: number;
  /** The part of `stored` that is older than the ttl of its view. */
  expired: number;
  rejected: number;
}

/**
 * Stores the rows of a stream until the signal aborts. An entry is acknowledged after the store has acknowledged its
 * row, so each entry is delivered at least once. A second delivery changes nothing, because rows are ordered by event
 * time. Entries that can never be stored go to another stream, with the reason. If the store or the stream's server
 * is down, the consumer waits and retries.
 */
export async function consume(
  stream: FeatureStream,
  target: Pick<DataTarget, 'push'>,
  { claimIdleMs, signal, logger }: ConsumeOptions,
): Promise<ConsumeTotals> {
  const totals: ConsumeTotals = { stored: 0, older: 0, expired: 0, rejected: 0 };
  let isOpen = false;
  let hasPending = true;
  let claimAt = 0;
  let reportAt = Date.now() + REPORT_MS;
  let pause = 0;
  while (!signal.aborted) {
    try {
      if (!isOpen) await stream.open();
      isOpen = true;
      let entries: readonly StreamEntry[] = [];
      // Pending entries come first: entries read but not acknowledged before a restart or a failure, or by a dead
      // consumer.
      if (hasPending) {
        entries = await stream.pending(MAX_ROWS);
        hasPending = entries.length > 0;
      }
      if (entries.length === 0 && Date.now() >= claimAt) {
        entries = await stream.claim(MAX_ROWS, claimIdleMs);
        if (entries.length < MAX_ROWS) claimAt = Date.now() + claimIdleMs / 2;
      }
      if (entries.length === 0) entries = await stream.next(MAX_ROWS, WAIT_MS);
      if (entries.length > 0) await store(entries, stream, target, totals, logger);
      if (pause > 0) logger.info('consuming continues');
      pause = 0;
      if (Date.now() >= reportAt) {
        reportAt = Date.now() + REPORT_MS;
        logger.info({ ...totals, ...(await stream.backlog()) }, 'consumed');
      }
    } catch (error) {
      isOpen = false;
      hasPending = true;
      pause = Math.min(LONGEST_PAUSE_MS, pause === 0 ? 100 : 2 * pause);
      logger.warn(
        { error: describeError(error), retry_ms: pause },
        'entries could not be stored; trying again',
      );
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }
  return totals;
}

/** Stores entries in order, then acknowledges or rejects them. */
async function store(
  entries: readonly StreamEntry[],
  stream: FeatureStream,
  target: Pick<DataTarget, 'push'>,
  totals: ConsumeTotals,
  logger: Logger,
): Promise<void> {
  const reasons = new Map<number, string>();
  const byView = new Map<string, InputRow[]>();
  for (const [position, entry] of entries.entries()) {
    if (entry[1] === null) continue; // The entry was deleted from the stream, so there is nothing to store.
    const read = readEntry(entry, position);
    if ('problem' in read) reasons.set(position, read.problem);
    else byView.set(read.view, [...(byView.get(read.view) ?? []), read.row]);
  }
  let [loaded, older, expired] = [0, 0, 0];
  for (const [view, rows] of byView) {
    const onBad = ({ line, problem }: BadRow): void => void reasons.set(line, problem);
    try {
      const outcome = await sendBatch(rows, (some) => target.push(view, some), onBad);
      loaded += outcome.loaded;
      older += outcome.older;
      expired += outcome.expired;
    } catch (error) {
      if (!isFinal(error)) throw error;
      for (const { line } of rows) reasons.set(line, reasons.get(line) ?? error.message);
    }
  }
  const rejected: RejectedEntry[] = [];
  const stored: StreamEntry[] = [];
  for (const [position, entry] of entries.entries()) {
    const reason = reasons.get(position);
    if (reason === undefined) stored.push(entry);
    else {
      rejected.push({ entry, reason });
      logger.warn({ id: entry[0], reason }, 'an entry was rejected');
    }
  }
  await stream.settle(stored, rejected);
  totals.stored += loaded;
  totals.older += older;
  totals.expired += expired;
  totals.rejected += rejected.length;
}

/** True if a retry of the same entry could never succeed. */
function isFinal(error: unknown): error is MillraceError {
  return error instanceof MillraceError && (error.code === 'unknown_view' || error.code === 'invalid_body');
}
