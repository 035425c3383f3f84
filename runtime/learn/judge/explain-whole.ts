import type { JsonObject } from '../../ground/api/types.js';
import { degradationText } from '../../request/pipeline/page/degraded.js';
import type { ExplainedCandidate, Explanation } from '../../request/pipeline/explain/explanation.js';
import type { Contestant } from './contestant.js';
import { pagesOf, retried } from './run-whole.js';

/** A whole ranking, with what each step did to each candidate. */
export interface ExplainedRanking {
  readonly ranked: readonly ExplainedCandidate[];
  readonly degraded: readonly string[];
  /** For each removed candidate that the explanation lists: the filter that removed it. */
  readonly removedBy: ReadonlyMap<string, string>;
  /** The filters that removed candidates. */
  readonly filters: readonly string[];
  /** The names that the steps of a name read. */
  readonly reads: ReadonlyMap<string, readonly string[]>;
}

/** Explains a whole ranking, a page at a time. @throws as `runWhole` */
export async function explainWhole(
  { pipeline, definition }: Contestant,
  body: JsonObject,
  requestId: string,
): Promise<ExplainedRanking> {
  const ranked: ExplainedCandidate[] = [];
  let first: Explanation | undefined;
  for (const page of pagesOf(body, definition)) {
    const explanation = await retried(
      (context) => pipeline.explain({ ...body, ...page }, context),
      requestId,
    );
    first ??= explanation;
    ranked.push(...explanation.page);
    if (explanation.page.length < page.user_page_size) break;
  }
  const removing = (first?.steps ?? []).filter(({ removed }) => (removed?.count ?? 0) > 0);
  return {
    ranked,
    degraded: (first?.degraded ?? []).map(degradationText),
    removedBy: new Map(
      removing.flatMap(({ as, removed }) => (removed?.ids ?? []).map((id) => [id, as] as const)),
    ),
    filters: removing.map(({ as }) => as),
    reads: readsOf(first?.steps ?? []),
  };
}

function readsOf(steps: Explanation['steps']): ReadonlyMap<string, readonly string[]> {
  const reads = new Map<string, readonly string[]>();
  for (const step of steps) reads.set(step.as, [...(reads.get(step.as) ?? []), ...step.reads]);
  return reads;
}
