import { ModelFileError } from 'millrace/api';
import type { Objective } from './objective.js';

/**
 * The start value of each output's sum.
 * @param scores the base score of each output, as a prediction
 * @throws ModelFileError for a score that the objective cannot have
 */
export function marginsOf(objective: Objective, scores: readonly number[]): number[] {
  return scores.map((score) => {
    const margin = Math.fround(objective.margin(Math.fround(score)));
    if (Number.isFinite(margin)) return margin;
    throw new ModelFileError(`its base_score ${score} does not fit its objective`);
  });
}

/**
 * The base score of each output. The file has one for all outputs or one for each, in one of the forms 0.5, "5E-1",
 * "[5E-1]" and "[3E-1,3E-1,4E-1]".
 */
export function baseScores(written: unknown, outputs: number): number[] {
  const words: readonly unknown[] = Array.isArray(written)
    ? written
    : typeof written === 'string'
      ? written.replace(/^\s*\[|\]\s*$/g, '').split(',')
      : [written ?? 0.5];
  const scores = words.map((word) => {
    if (typeof word === 'number') return word;
    return typeof word === 'string' && word.trim() !== '' ? Number(word) : NaN;
  });
  if (scores.every(Number.isFinite)) {
    if (scores.length === outputs) return scores;
    if (scores.length === 1) return new Array<number>(outputs).fill(scores[0] ?? NaN);
  }
  throw new ModelFileError(
    typeof written === 'string'
      ? `its base_score is ${JSON.stringify(written)}`
      : `its base_score is neither one number nor ${outputs}`,
  );
}
