import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { RankedCandidate } from '../../request/pipeline/answer-types.js';
import { degradationText } from '../../request/pipeline/page/degraded.js';
import type { RequestContext } from '../../request/pipeline/types.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import type { Contestant } from './contestant.js';

/** A whole ranking, not only a page of it. */
export interface WholeRanking {
  readonly ranked: readonly RankedCandidate[];
  /** The reasons why it is degraded, e.g. `skipped=ltr`. */
  readonly degraded: readonly string[];
  /** Candidates whose id is not in the store. */
  readonly missing: number;
}

/** A busy machine can miss a time limit once. A ranking that always misses it is an error. */
const MOST_TRIES = 3;

/**
 * Runs a pipeline and returns the whole ranking. A pipeline answers pages of limited size, so it runs once a page;
 * the pages of one request fit together.
 * @throws MillraceError as `Pipeline.run`; CommandFailure for more candidates than the pipeline allows
 */
export async function runWhole(
  { pipeline, definition }: Contestant,
  body: JsonObject,
  requestId: string,
): Promise<WholeRanking> {
  const ranked: RankedCandidate[] = [];
  let last: Omit<WholeRanking, 'ranked'> | undefined;
  for (const page of pagesOf(body, definition)) {
    const { answer, report } = await retried(
      (context) => pipeline.run({ ...body, ...page }, context),
      requestId,
    );
    const found = answer.ranked_candidates ?? [];
    ranked.push(...found);
    last = {
      degraded: report.degraded.map(degradationText),
      missing: report.missingEntities.get(definition.candidateType.value) ?? 0,
    };
    if (found.length < page.user_page_size) break;
  }
  return { ranked, ...(last ?? { degraded: [], missing: 0 }) };
}

/** The paging of the requests that together answer a whole ranking. @throws CommandFailure */
export function* pagesOf(
  { candidates }: JsonObject,
  { page, limits, name }: Contestant['definition'],
): Generator<{ readonly user_page: number; readonly user_page_size: number }> {
  // A pipeline that finds its candidates may find as many as its limit allows.
  const sent = Array.isArray(candidates) ? candidates.length : limits.candidates;
  if (sent > limits.candidates)
    throw new CommandFailure(
      `a query has ${sent} candidates, but ${name} ranks at most ${limits.candidates}`,
      `raise limits.candidates in pipelines/${name}.yaml`,
    );
  const size = Math.max(1, Math.min(page.maxSize, sent));
  for (let at = 0; at === 0 || at * size < sent; at++) yield { user_page: at, user_page_size: size };
}

/** Runs a request again if it misses its time limit. */
export async function retried<T>(
  run: (context: RequestContext) => Promise<T>,
  requestId: string,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run({ requestId });
    } catch (error) {
      const isLate = error instanceof MillraceError && error.code === 'deadline_exceeded';
      if (!isLate || tries === MOST_TRIES) throw error;
    }
  }
}
