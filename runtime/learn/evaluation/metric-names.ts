import { nearest } from '../../ground/core/nearest.js';
import {
  averagePrecision,
  expectedReciprocalRank,
  judged,
  ndcg,
  precision,
  recall,
  reciprocalRank,
  type JudgedRanking,
  type MetricOptions,
} from './metrics.js';

type Measure = (ranking: JudgedRanking, k: number, options: MetricOptions) => number | undefined;

interface NamedMeasure {
  readonly measure: Measure;
  /** Whether a name needs a depth: `precision@10`, but not `precision`. */
  readonly needsDepth: boolean;
}

const MEASURES: Readonly<Record<string, NamedMeasure>> = {
  ndcg: { measure: ndcg, needsDepth: false },
  map: { measure: averagePrecision, needsDepth: false },
  mrr: { measure: reciprocalRank, needsDepth: false },
  err: { measure: expectedReciprocalRank, needsDepth: false },
  precision: { measure: precision, needsDepth: true },
  recall: { measure: recall, needsDepth: true },
  judged: { measure: judged, needsDepth: true },
};

/** A measure with its depth, as users name it. */
export interface Metric {
  /** For example `ndcg@10`. */
  readonly name: string;
  /** Infinity if the name has no depth. */
  readonly k: number;
  /** Undefined if the measure is not defined for the query, since nothing in it is relevant. */
  of(ranking: JudgedRanking, options: MetricOptions): number | undefined;
}

/** The names in messages and in the help. */
export const METRIC_NAMES: readonly string[] = Object.entries(MEASURES).map(([name, { needsDepth }]) =>
  needsDepth || name === 'ndcg' ? `${name}@10` : name,
);

const LARGEST_DEPTH = 100_000;

/** Reads the name of a metric, for example `ndcg@10` or `map`. A text says what is wrong with it. */
export function parseMetric(name: string): Metric | { readonly problem: string; readonly help: string } {
  const [, word = '', depth] = /^([a-z]+)(?:@(\d+))?$/.exec(name) ?? [];
  const found = Object.hasOwn(MEASURES, word) ? MEASURES[word] : undefined;
  if (found === undefined) {
    const near = nearest(/^[^@]*/.exec(name)?.[0] ?? '', Object.keys(MEASURES));
    const meant = near === undefined ? '' : `did you mean \`${near}${/@\d+$/.exec(name)?.[0] ?? ''}\`? `;
    return {
      problem: `there is no metric \`${name}\``,
      help: `${meant}metrics are ${METRIC_NAMES.join(', ')}, with any number after the @`,
    };
  }
  const k = depth === undefined ? Infinity : Number(depth);
  if (depth === undefined && found.needsDepth)
    return { problem: `\`${name}\` needs a depth`, help: `write it as \`${name}@10\`` };
  if (depth !== undefined && !(k >= 1 && k <= LARGEST_DEPTH))
    return {
      problem: `the depth of \`${name}\` is out of range`,
      help: `a depth is a whole number from 1 to ${LARGEST_DEPTH}`,
    };
  return { name, k, of: (ranking, options) => found.measure(ranking, k, options) };
}
