/** Measures of one ranking. Ranks are 1-based; `k` is the depth to which a measure looks, Infinity for all ranks. */

/** A ranking with the judgments of its query. */
export interface JudgedRanking {
  /** The grade at each rank; NaN for a candidate without a grade. */
  readonly ranked: readonly number[];
  /** The grades of all judged candidates of the query, also of those that are not ranked; highest first. */
  readonly ideal: readonly number[];
}

export interface MetricOptions {
  /** What a grade is worth in NDCG: 2^grade − 1, or the grade. */
  readonly gain: 'exp2' | 'linear';
  /** The least grade that is relevant, for the measures that know only relevant and not relevant. */
  readonly relevant: number;
  /** The highest grade of the scale, for ERR. */
  readonly maxGrade: number;
}

/**
 * Normalised discounted cumulative gain at k: the sum of gain / log2(rank + 1), divided by that of the ideal order.
 * Candidates without a grade, or with a negative one, gain nothing.
 * Source: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002; the gain 2^grade − 1:
 * Burges et al., "Learning to rank using gradient descent", ICML 2005.
 * @returns 0 to 1; undefined if no judged candidate has a positive grade
 */
export function ndcg(
  { ranked, ideal }: JudgedRanking,
  k: number,
  options: MetricOptions,
): number | undefined {
  const best = cumulatedGain(ideal, k, options);
  return best > 0 ? cumulatedGain(ranked, k, options) / best : undefined;
}

function cumulatedGain(grades: readonly number[], k: number, { gain }: MetricOptions): number {
  let sum = 0;
  for (let i = 0; i < Math.min(k, grades.length); i++) {
    const grade = grades[i] ?? NaN;
    if (grade > 0) sum += (gain === 'exp2' ? 2 ** grade - 1 : grade) / Math.log2(i + 2);
  }
  return sum;
}

/**
 * Average precision at k: the mean of the precision at the rank of each relevant candidate; 0 for those below k or not
 * ranked. Its mean over queries is MAP.
 * Source: Buckley and Voorhees, "Evaluating evaluation measure stability", SIGIR 2000; `map` and `map_cut` of trec_eval.
 * @returns 0 to 1; undefined if no judged candidate is relevant
 */
export function averagePrecision(
  { ranked, ideal }: JudgedRanking,
  k: number,
  options: MetricOptions,
): number | undefined {
  const all = relevantIn(ideal, Infinity, options);
  if (all === 0) return undefined;
  let found = 0;
  let sum = 0;
  for (let i = 0; i < Math.min(k, ranked.length); i++) {
    if (!((ranked[i] ?? NaN) >= options.relevant)) continue;
    found += 1;
    sum += found / (i + 1);
  }
  return sum / all;
}

/**
 * Reciprocal rank at k: 1 / the rank of the first relevant candidate, or 0 if there is none up to k. Its mean over
 * queries is MRR.
 * Source: Voorhees, "The TREC-8 question answering track report", 1999; `recip_rank` of trec_eval.
 * @returns 0 to 1; undefined if no judged candidate is relevant
 */
export function reciprocalRank(
  { ranked, ideal }: JudgedRanking,
  k: number,
  options: MetricOptions,
): number | undefined {
  if (relevantIn(ideal, Infinity, options) === 0) return undefined;
  const first = ranked.findIndex((grade) => grade >= options.relevant);
  return first === -1 || first >= k ? 0 : 1 / (first + 1);
}

/**
 * Precision at k: the share of relevant candidates among the first k. A ranking shorter than k is divided by k too.
 * Source: `P_k` of trec_eval (NIST).
 * @returns 0 to 1; undefined if no judged candidate is relevant
 */
export function precision(
  { ranked, ideal }: JudgedRanking,
  k: number,
  options: MetricOptions,
): number | undefined {
  if (relevantIn(ideal, Infinity, options) === 0) return undefined;
  return relevantIn(ranked, k, options) / k;
}

/**
 * Recall at k: the share of all relevant candidates that the first k ranks hold.
 * Source: `recall_k` of trec_eval (NIST).
 * @returns 0 to 1; undefined if no judged candidate is relevant
 */
export function recall(
  { ranked, ideal }: JudgedRanking,
  k: number,
  options: MetricOptions,
): number | undefined {
  const all = relevantIn(ideal, Infinity, options);
  return all === 0 ? undefined : relevantIn(ranked, k, options) / all;
}

function relevantIn(grades: readonly number[], k: number, { relevant }: MetricOptions): number {
  let count = 0;
  for (let i = 0; i < Math.min(k, grades.length); i++) if ((grades[i] ?? NaN) >= relevant) count += 1;
  return count;
}

/**
 * Expected reciprocal rank at k. A user reads from the top and stops at a candidate with the probability
 * (2^grade − 1) / 2^maxGrade; the measure is the expectation of 1 / the rank of the stop.
 * Source: Chapelle, Metzler, Zhang and Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009.
 * @returns 0 to 1; undefined if no judged candidate has a positive grade
 */
export function expectedReciprocalRank(
  { ranked, ideal }: JudgedRanking,
  k: number,
  { maxGrade }: MetricOptions,
): number | undefined {
  if (!((ideal[0] ?? NaN) > 0)) return undefined;
  let reading = 1;
  let sum = 0;
  for (let i = 0; i < Math.min(k, ranked.length); i++) {
    const grade = ranked[i] ?? NaN;
    if (!(grade > 0)) continue;
    // 2^grade / 2^maxGrade, written so that it does not overflow.
    const stops = 2 ** (grade - maxGrade) - 2 ** -maxGrade;
    sum += (reading * stops) / (i + 1);
    reading *= 1 - stops;
  }
  return sum;
}

/**
 * Judged at k: the share of the first k candidates that have a grade. A ranking shorter than k counts its own length.
 * Source: Buckley and Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004, on unjudged candidates.
 * @returns 0 to 1; undefined for an empty ranking
 */
export function judged({ ranked }: JudgedRanking, k: number): number | undefined {
  const depth = Math.min(k, ranked.length);
  if (depth === 0) return undefined;
  let count = 0;
  for (let i = 0; i < depth; i++) if (!Number.isNaN(ranked[i])) count += 1;
  return count / depth;
}
