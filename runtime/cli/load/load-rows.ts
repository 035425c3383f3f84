import type { Input } from '../../project/rows/open-input.js';
import { InputError, type BadRow, type InputRow } from '../../project/rows/rows.js';
import type { Checkpoint } from './checkpoint.js';
import { conflict, LARGEST_BATCHES, toBatches, type Batch, type RowOrder } from './batches.js';
import type { Progress } from '../../ground/core/progress.js';
import { sendBatch, type Send } from '../../state/index/send-batch.js';

const BATCHES_IN_FLIGHT = 2;
/** The maximum number of bad rows that are listed. */
const BAD_ROWS_SHOWN = 20;

export interface LoadReport {
  readonly loaded: number;
  readonly refused: number;
  /** Feature rows that were skipped, because the store has a later event time. */
  readonly older: number;
  /** The part of the loaded rows that are older than their view's ttl. */
  readonly expired: number;
  /** Rows of updates whose entities the index does not have. */
  readonly unknown: number;
  /** The part of the loaded rows whose id appeared earlier in the file. */
  readonly duplicates: number;
  readonly seconds: number;
  /** The first bad rows, by line. */
  readonly bad: readonly BadRow[];
  /** Why the load stopped before the end of the file. */
  readonly failure: Error | undefined;
}

/** How the rows of a file are sent. */
export interface Sending {
  readonly order: RowOrder;
  readonly send: Send<InputRow>;
  /** The largest batches; by default those of the store. */
  readonly shape?: typeof LARGEST_BATCHES;
}

/**
 * Loads the rows of a file, with a few batches in flight. Bad rows do not prevent good rows from being loaded. Never
 * rejects.
 * @param checkpoint the row to start after; it also records the row up to which all rows are acknowledged
 */
export async function loadRows(
  input: Input,
  { order, send, shape = LARGEST_BATCHES }: Sending,
  progress: Progress,
  checkpoint?: Checkpoint,
): Promise<LoadReport> {
  const start = performance.now();
  const bad: BadRow[] = [];
  let refused = 0;
  let loaded = 0;
  let older = 0;
  let expired = 0;
  let unknown = 0;
  let duplicates = 0;
  let failure: Error | undefined;
  const inFlight = new Map<Batch, Promise<void>>();
  /** Batches in flight or finished, starting with the first that is not acknowledged. */
  const sent: Batch[] = [];
  const acknowledged = new Set<Batch>();

  function onBad(row: BadRow): void {
    refused += 1;
    bad.push(row);
    if (bad.length > 10 * BAD_ROWS_SHOWN) firstRows(bad);
  }

  async function run(batch: Batch): Promise<void> {
    try {
      const outcome = await sendBatch(batch.rows, send, onBad);
      loaded += outcome.loaded;
      older += outcome.older;
      expired += outcome.expired;
      unknown += outcome.unknown;
      duplicates += outcome.duplicates;
      progress.update(input.bytesRead(), loaded);
      acknowledged.add(batch);
      advance();
    } catch (error) {
      failure ??= asError(error);
    }
    inFlight.delete(batch);
  }

  /** Batches finish in any order. A load resumes after the last batch before which all are finished. */
  function advance(): void {
    let line: number | undefined;
    for (let [first] = sent; first !== undefined && acknowledged.delete(first); [first] = sent) {
      line = first.rows.at(-1)?.line;
      sent.shift();
    }
    if (line !== undefined) checkpoint?.reached(line);
  }

  try {
    for await (const batch of toBatches(input.chunks(checkpoint?.after), shape, order, onBad)) {
      while (
        inFlight.size >= BATCHES_IN_FLIGHT ||
        [...inFlight.keys()].some((other) => conflict(other, batch))
      )
        await Promise.race(inFlight.values());
      if (failure !== undefined) break;
      sent.push(batch);
      inFlight.set(batch, run(batch));
    }
  } catch (error) {
    failure ??= error instanceof InputError ? error : asError(error);
  }
  await Promise.all(inFlight.values());
  progress.stop();
  firstRows(bad);
  if (failure === undefined) checkpoint?.finished();
  const seconds = (performance.now() - start) / 1000;
  return { loaded, refused, older, expired, unknown, duplicates, seconds, bad, failure };
}

function firstRows(bad: BadRow[]): void {
  bad.sort((a, b) => a.line - b.line);
  bad.length = Math.min(bad.length, BAD_ROWS_SHOWN);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
