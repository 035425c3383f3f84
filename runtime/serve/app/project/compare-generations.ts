import type { Logger } from 'pino';
import { describeError } from '../../../ground/core/describe-error.js';
import { compareOrders } from '../../../ground/core/compare-rankings.js';
import { mean, quantile } from '../../../ground/core/statistics.js';
import { newestRecords } from '../../../state/ledger/newest-records.js';
import type { Explanation } from '../../../request/pipeline/explain/explanation.js';
import {
  loggedPipeline,
  loggedRequest,
  type LoggedRequest,
} from '../../../request/pipeline/log/logged-request.js';
import type { Pipeline } from '../../../request/pipeline/types.js';
import type { Generation } from './generation.js';

/** The depth of the overlap. */
const DEPTH = 10;
/** After this time, the comparison ends with the requests so far, so that a reload does not wait for long. */
const LONGEST_MS = 10_000;

interface CompareOptions {
  /** The folder of the ledger. */
  readonly ledger: string;
  /** How many requests are ranked again, the newest. */
  readonly last: number;
  readonly logger: Logger;
}

/**
 * Ranks the newest requests of the ledger with the generation in service and with the next one, and logs how the rankings
 * differ, by pipeline. It refuses nothing, records nothing and runs no effects. It never rejects: an error is logged.
 */
export async function compareGenerations(
  before: Generation,
  next: Generation,
  { ledger, last, logger }: CompareOptions,
): Promise<void> {
  try {
    const requests = await newestRequests(before, ledger, last);
    if (requests.length === 0) {
      logger.info({ ledger }, 'the ledger has no requests to compare the new project on');
      return;
    }
    const until = performance.now() + LONGEST_MS;
    for (const pipeline of before.pipelines) {
      const other = next.pipelines.find(({ name, task }) => name === pipeline.name && task === 'rank');
      const own = requests.filter((one) => one.pipeline === pipeline.name);
      if (other === undefined || own.length === 0) continue;
      const report = await comparePipelines(pipeline, other, own, until);
      logger.info({ pipeline: pipeline.name, ...report }, 'the new project ranks the last requests');
    }
  } catch (error) {
    logger.warn(
      { error: describeError(error) },
      'the new project could not be compared on the last requests',
    );
  }
}

interface PipelineRequest extends LoggedRequest {
  readonly pipeline: string;
  readonly maxSize: number;
}

function newestRequests(
  { config }: Generation,
  ledger: string,
  last: number,
): Promise<readonly PipelineRequest[]> {
  const definitions = new Map(
    config.pipelines.filter(({ task }) => task === 'rank').map((one) => [one.name, one]),
  );
  return newestRecords(ledger, last, (record) => {
    const definition = definitions.get(loggedPipeline(record) ?? '');
    const request = definition && loggedRequest(record, definition, config.entities);
    return request && { ...request, pipeline: definition.name, maxSize: definition.page.maxSize };
  });
}

/** Places up to the largest page are compared. */
async function comparePipelines(
  pipeline: Pipeline,
  other: Pipeline,
  requests: readonly PipelineRequest[],
  until: number,
): Promise<object> {
  const overlaps: number[] = [];
  const ms = { before: [] as number[], after: [] as number[] };
  const removed = { before: 0, after: 0 };
  const failed = { before: 0, after: 0 };
  const degraded = { before: 0, after: 0 };
  let [same, moved, compared] = [0, 0, 0];
  for (const { requestId, body, maxSize } of requests) {
    if (performance.now() > until) break;
    const size = Math.min(maxSize, body.candidates.length);
    const paged = { ...body, user_page: 0, user_page_size: size };
    // The one that runs second finds warm caches, so they take turns.
    const found = await rankBoth(pipeline, other, paged, requestId, compared++ % 2 === 1);
    for (const side of ['before', 'after'] as const) if (found[side] === undefined) failed[side] += 1;
    if (found.before === undefined || found.after === undefined) continue;
    for (const side of ['before', 'after'] as const) {
      const { candidates, stages, degraded: causes } = found[side] as Explanation;
      ms[side].push(stages.reduce((sum, stage) => sum + stage.ms, 0));
      removed[side] += candidates.sent - candidates.duplicates.count - candidates.left;
      if (causes.length > 0) degraded[side] += 1;
    }
    const { isSame, overlap, places } = compareOrders(idsOf(found.before), idsOf(found.after), DEPTH);
    moved += places.filter(([a, b]) => a !== b).length;
    same += isSame ? 1 : 0;
    overlaps.push(overlap);
  }
  return {
    requests: compared,
    same,
    [`overlap_at_${DEPTH}`]: rounded(mean(overlaps)),
    moved,
    removed,
    degraded,
    failed,
    ms_p50: { before: median(ms.before), after: median(ms.after) },
  };
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
