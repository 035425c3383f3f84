import { murmur3 } from '../../ground/core/murmur3.js';
import { followRecords } from '../../state/ledger/follow-records.js';
import { readReport } from '../../state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { loggedPipeline, loggedRequest } from '../../request/pipeline/log/logged-request.js';
import { newestRecords } from '../../state/ledger/newest-records.js';
import type { EntityType } from '../../project/config/model/entities.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { ArmOutcome, ArmRow, ArmTally, Served } from './tally.js';

/** How far the clock of a file system may be behind, in milliseconds. */
const SKEW_MS = 60_000;

/** A request that was served, and how it was ranked. */
export interface ShadowRequest extends Served {
  readonly time: number;
  readonly body: JsonObject;
}

/** What runs the requests: a process of its own. */
interface Arm {
  readonly restarts: number;
  start(): Promise<void>;
  run(requestId: string, body: JsonObject, signal: AbortSignal): Promise<ArmOutcome>;
  close(): Promise<void>;
}

export interface RunningArm {
  readonly arm: Arm;
  readonly tally: ArmTally;
}

/** Which requests are run. */
export interface Selection {
  /** From 0 to 1: the share of the requests, by their ids. */
  readonly share: number;
  /** Epoch milliseconds, inclusive; undefined: since ever. */
  readonly from?: number | undefined;
  /** Epoch milliseconds, exclusive; undefined: without end. */
  readonly until?: number | undefined;
}

/** Whether a request is in the share. The same requests are in a share each time, and in every larger one. */
export function isInShare(requestId: string, share: number): boolean {
  return murmur3(Buffer.from(requestId)) / 2 ** 32 < share;
}

/** Reads a request from the record of a ranking. @returns undefined if the record is not of the pipeline, or not selected */
export function shadowRequest(
  record: DecodedRecord,
  definition: PipelineDefinition,
  entities: ReadonlyMap<string, EntityType>,
  { share, from = -Infinity, until = Infinity }: Selection,
): ShadowRequest | undefined {
  if (record.kind !== 'ranking' || loggedPipeline(record) !== definition.name) return undefined;
  const request = loggedRequest(record, definition, entities);
  if (request === undefined || !isInShare(request.requestId, share)) return undefined;
  if (request.time < from || request.time >= until) return undefined;
  const scores = record.field('score');
  const ranked = request.candidates
    .map(({ id, place }, row) => ({ id, place, score: numberAt(scores?.at(row)) }))
    .filter(({ place }) => place > 0)
    .sort((a, b) => a.place - b.place)
    .map(({ id, score }) => ({ id, score }));
  const { requestId, time, body } = request;
  return { requestId, time, body, ranked };
}

function numberAt(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export interface ShadowRun {
  readonly ledger: string;
  /** Makes a request of a record; undefined if it is not wanted. */
  readonly pick: (record: DecodedRecord) => ShadowRequest | undefined;
  readonly arms: readonly RunningArm[];
  /** Is called for each request and arm. */
  readonly done: (row: ArmRow) => void;
  readonly signal: AbortSignal;
}

/** Runs the newest requests of a ledger, all arms at the same time. @returns how many there were */
export async function runNewest(
  { ledger, pick, arms, done, signal }: ShadowRun,
  last: number,
): Promise<number> {
  const requests = await newestRecords(ledger, last, pick);
  let count = 0;
  for (const request of requests) {
    if (signal.aborted) break;
    await Promise.all(arms.map((one) => runOne(one, request, done, signal)));
    count += 1;
  }
  return count;
}

/**
 * Runs requests as a service logs them, until the signal aborts. An arm that is slower than the requests come does not
 * hold the reader: requests above `queue` are dropped and counted, and so are those that wait or run when the signal aborts.
 * @returns how many requests there were
 */
export async function runLive(
  { ledger, pick, arms, done, signal }: ShadowRun,
  queue: number,
): Promise<number> {
  const since = Date.now();
  const waiting = arms.map((): ShadowRequest[] => []);
  const working = arms.map(() => Promise.resolve());
  const isBusy = arms.map(() => false);
  const failures: unknown[] = [];
  const stop = new AbortController();
  const end = AbortSignal.any([signal, stop.signal]);
  const work = async (at: number, one: RunningArm): Promise<void> => {
    isBusy[at] = true;
    for (let next = waiting[at]?.shift(); next !== undefined; next = waiting[at]?.shift()) {
      if (end.aborted) done(one.tally.drop(next));
      else await runOne(one, next, done, end);
    }
    isBusy[at] = false;
  };
  /** The number of the last request, by the instance that logged it. */
  const newest = new Map<string, number>();
  let count = 0;
  for await (const record of followRecords([ledger], readReport(), end, since - SKEW_MS)) {
    const request = pick(record);
    if (request === undefined || request.time < since) continue;
    // `ledger compact` and `store forget` write records again, into other segments.
    if (record.sequence <= (newest.get(record.instance) ?? 0)) continue;
    newest.set(record.instance, record.sequence);
    count += 1;
    for (const [at, one] of arms.entries()) {
      const own = waiting[at] ?? [];
      if (own.length >= queue) {
        done(one.tally.drop(request));
        continue;
      }
      own.push(request);
      if (isBusy[at] !== true)
        working[at] = work(at, one).catch((error: unknown) => {
          failures.push(error);
          stop.abort();
        });
    }
  }
  await Promise.all(working);
  if (failures.length > 0) throw failures[0];
  return count;
}

async function runOne(
  { arm, tally }: RunningArm,
  request: ShadowRequest,
  done: (row: ArmRow) => void,
  signal: AbortSignal,
): Promise<void> {
  const outcome = await arm.run(request.requestId, request.body, signal);
  done(outcome.is === 'stopped' ? tally.drop(request) : tally.add(request, outcome));
}
