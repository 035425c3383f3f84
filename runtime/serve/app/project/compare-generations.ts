import type { Logger } from 'pino';
import { MillraceError } from '../../../ground/api/errors.js';
import { describeError } from '../../../ground/core/describe-error.js';
import { compareOrders, overlapAt } from '../../../ground/core/compare-rankings.js';
import { mean, quantile } from '../../../ground/core/statistics.js';
import { passes } from '../../../project/config/conditions/condition.js';
import type { ReloadGate } from '../../../project/config/conditions/reload-gate.js';
import { newestRecords } from '../../../state/ledger/newest-records.js';
import type { Explanation } from '../../../request/pipeline/explain/explanation.js';
import { loggedPipeline, loggedRequest } from '../../../request/pipeline/log/logged-request.js';
import type { Pipeline } from '../../../request/pipeline/types.js';
import type { Generation } from './generation.js';
import type { RecentRequest } from './recent-requests.js';

/** The depth of the overlap in the log. */
const DEPTH = 10;
/** After this time, the comparison ends with the requests so far, so that a reload does not wait for long. */
const LONGEST_MS = 10_000;

export interface CompareOptions {
  /** The folder of the ledger. */
  readonly ledger: string;
  /** How many requests are ranked again, the newest. */
  readonly last: number;
  /** Requests that are ranked again if the ledger has none. */
  readonly recent: readonly RecentRequest[];
  /** What must hold for each pipeline of which there are requests. */
  readonly gates: readonly ReloadGate[];
  readonly logger: Logger;
}

/**
 * Ranks the newest requests with the generation in service and with the next one, and logs how the rankings differ, by
 * pipeline. It records nothing and runs no effects. An error is only logged, unless there are gates.
 * @throws MillraceError reload_refused if a gate does not hold, or if there are gates and nothing could be compared
 */
export async function compareGenerations(
  before: Generation,
  next: Generation,
  options: CompareOptions,
): Promise<void> {
  const { gates, logger } = options;
  try {
    const broken = await brokenGates(before, next, options);
    if (broken.length > 0) throw new MillraceError('reload_refused', broken.join('; '));
  } catch (error) {
    if (error instanceof MillraceError && error.code === 'reload_refused') throw error;
    const text = 'the new project could not be compared on the last requests';
    logger.warn({ error: describeError(error) }, text);
    if (gates.length > 0) throw new MillraceError('reload_refused', text, { cause: error });
  }
}

/** Compares each pipeline. @returns the gates that do not hold, in words */
async function brokenGates(
  before: Generation,
  next: Generation,
  { ledger, last, recent, gates, logger }: CompareOptions,
): Promise<string[]> {
  const logged = await newestRequests(before, ledger, last);
  const requests = logged.length > 0 ? logged : requestsOf(before, recent);
  if (requests.length === 0) {
    logger.info({ ledger }, 'there are no requests to compare the new project on');
    return [];
  }
  const until = performance.now() + LONGEST_MS;
  const depths = [DEPTH, ...gates.flatMap(({ value }) => (value.kind === 'overlap' ? [value.k] : []))];
  const broken: string[] = [];
  for (const pipeline of before.pipelines) {
    const other = next.pipelines.find(({ name, task }) => name === pipeline.name && task === 'rank');
    const own = requests.filter((one) => one.pipeline === pipeline.name);
    if (other === undefined || own.length === 0) continue;
    const found = await comparePipelines(pipeline, other, own, { until, depths });
    logger.info({ pipeline: pipeline.name, ...reportOf(found) }, 'the new project ranks the last requests');
    for (const gate of gates) {
      const value = valueOf(gate, found);
      if (!passes(gate, value))
        broken.push(
          `\`${gate.text}\` does not hold for the pipeline ${pipeline.name}: ${Number(value.toFixed(4))} over ${found.requests} requests`,
        );
    }
  }
  return broken;
}

interface PipelineRequest {
  readonly pipeline: string;
  readonly requestId: string;
  readonly body: object;
  /** The largest page, or the number of candidates if that is smaller. */
  readonly size: number;
}

async function newestRequests(
  { config }: Generation,
  ledger: string,
  last: number,
): Promise<readonly PipelineRequest[]> {
  const definitions = new Map(
    config.pipelines.filter(({ task }) => task === 'rank').map((one) => [one.name, one]),
  );
  const found = await newestRecords(ledger, last, (record) => {
    const definition = definitions.get(loggedPipeline(record) ?? '');
    const request = definition && loggedRequest(record, definition, config.entities);
    return request && { ...request, pipeline: definition.name, maxSize: definition.page.maxSize };
  }).catch((error: unknown) => {
    // The folder is made with the first record.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  });
  return found.map(({ maxSize, ...request }) => ({
    ...request,
    size: Math.min(maxSize, request.body.candidates.length),
  }));
}

/** The requests that were kept in memory, oldest first. */
function requestsOf({ config }: Generation, recent: readonly RecentRequest[]): PipelineRequest[] {
  return recent.flatMap(({ pipeline, requestId, body, candidates = Infinity }) => {
    const definition = config.pipelines.find(({ name, task }) => name === pipeline && task === 'rank');
    return definition === undefined
      ? []
      : [{ pipeline, requestId, body, size: Math.min(definition.page.maxSize, candidates) }];
  });
}

/** How the rankings of two projects differ. */
interface Comparison {
  requests: number;
  same: number;
  moved: number;
  /** Requests that the new project fails, and the one before does not. */
  newlyFailed: number;
  /** The overlaps of the requests, by depth. */
  readonly overlaps: ReadonlyMap<number, number[]>;
  readonly ms: Sides<number[]>;
  readonly removed: Sides<number>;
  readonly failed: Sides<number>;
  readonly degraded: Sides<number>;
}
type Sides<T> = Record<'before' | 'after', T>;

/** Places up to the largest page are compared. */
async function comparePipelines(
  pipeline: Pipeline,
  other: Pipeline,
  requests: readonly PipelineRequest[],
  { until, depths }: { readonly until: number; readonly depths: readonly number[] },
): Promise<Comparison> {
  const sum: Comparison = {
    ...{ requests: 0, same: 0, moved: 0, newlyFailed: 0 },
    overlaps: new Map(depths.map((depth) => [depth, []])),
    ms: { before: [], after: [] },
    removed: { before: 0, after: 0 },
    failed: { before: 0, after: 0 },
    degraded: { before: 0, after: 0 },
  };
  for (const { requestId, body, size } of requests) {
    if (performance.now() > until) break;
    const paged = { ...body, user_page: 0, user_page_size: size };
    // The one that runs second finds warm caches, so they take turns.
    const found = await rankBoth(pipeline, other, paged, requestId, sum.requests++ % 2 === 1);
    for (const side of ['before', 'after'] as const) if (found[side] === undefined) sum.failed[side] += 1;
    if (found.before !== undefined && found.after === undefined) sum.newlyFailed += 1;
    if (found.before !== undefined && found.after !== undefined) addBoth(sum, found.before, found.after);
  }
  return sum;
}

function addBoth(sum: Comparison, before: Explanation, after: Explanation): void {
  for (const [side, { candidates, stages, degraded: causes }] of [
    ['before', before],
    ['after', after],
  ] as const) {
    sum.ms[side].push(stages.reduce((total, stage) => total + stage.ms, 0));
    sum.removed[side] += candidates.sent - candidates.duplicates.count - candidates.left;
    if (causes.length > 0) sum.degraded[side] += 1;
  }
  const [a, b] = [idsOf(before), idsOf(after)];
  const { isSame, places } = compareOrders(a, b, DEPTH);
  sum.moved += places.filter(([from, to]) => from !== to).length;
  sum.same += isSame ? 1 : 0;
  for (const [depth, overlaps] of sum.overlaps) overlaps.push(overlapAt(a, b, depth));
}

function reportOf({ requests, same, moved, removed, degraded, failed, overlaps, ms }: Comparison): object {
  return {
    requests,
    same,
    [`overlap_at_${DEPTH}`]: rounded(mean(overlaps.get(DEPTH) ?? [])),
    moved,
    removed,
    degraded,
    failed,
    ms_p50: { before: median(ms.before), after: median(ms.after) },
  };
}

function valueOf({ value }: ReloadGate, found: Comparison): number {
  if (value.kind === 'overlap') return mean(found.overlaps.get(value.k) ?? []);
  switch (value.count) {
    case 'requests':
      return found.requests;
    case 'same':
      return found.same;
    case 'failed':
      return found.newlyFailed;
    case 'degraded':
      return found.degraded.after;
  }
}

/**
 * Ranks a request with the same pipeline of two projects. It records nothing and runs no effects.
 * @param isTurned whether the second runs first
 * @returns without a side that fails
 */
export async function rankBoth(
  before: Pipeline,
  after: Pipeline,
  body: object,
  requestId: string,
  isTurned = false,
): Promise<{ readonly before?: Explanation; readonly after?: Explanation }> {
  const sides = [
    ['before', before],
    ['after', after],
  ] as const;
  const found: { before?: Explanation; after?: Explanation } = {};
  for (const [side, one] of isTurned ? sides.toReversed() : sides) {
    const explanation = await one.explain(body, { requestId }).catch(() => undefined);
    if (explanation !== undefined) found[side] = explanation;
  }
  return found;
}

/** The ids of the page of an explained answer. */
export function idsOf({ page }: Explanation): readonly string[] {
  return page.map(({ candidate_id: id }) => id);
}

function median(values: readonly number[]): number | null {
  return rounded(quantile(Float64Array.from(values).sort(), 0.5));
}

/** Null if the number is not known. */
function rounded(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toFixed(4)) : null;
}
