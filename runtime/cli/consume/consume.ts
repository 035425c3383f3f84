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
  /** A consumer that holds entries for so long is taken for dead. */
  readonly claimIdleMs: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** What became of the entries so far. */
export interface ConsumeTotals {
  stored: number;
  /** Left out, since the store has a later event time. */
  older: number;
  /** Of the stored: older than the ttl of their view. */
  expired: number;
  rejected: number;
}

/**
 * Stores the rows of a stream until the signal says to stop. An entry is acknowledged after the store has acknowledged
 * its row, so that each is delivered at least once; a second delivery changes nothing, since event times decide. What
 * can never be stored goes to another stream with its reason. Where the store or the stream's server is away, it waits
 * and tries again.
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
      // What was read and not acknowledged comes first: before a restart, before a failure, or by one who died.
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
      if (pause > 0) logger.info('consuming again');
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

/** Stores some entries, in their order, and settles them. */
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
    if (entry[1] === null) continue; // deleted from the stream: there is nothing left to store
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

/** Whether sending the same again could never succeed. */
function isFinal(error: unknown): error is MillraceError {
  return error instanceof MillraceError && (error.code === 'unknown_view' || error.code === 'invalid_body');
}
