import type { Content } from '../../ground/api/curation.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { JsonText } from '../../ground/core/json-writer.js';

/** The answer of a pipeline that ranks: exactly the fields of the wire contract. */
export interface RankingAnswer {
  readonly ranked_candidates: readonly RankedCandidate[];
  /** Of rules of a merchandiser; only if there is some. */
  readonly content?: readonly Content[];
  /** Only if the request has `include_events: true`. */
  readonly events?: JsonText<readonly JsonObject[]>;
}

/** The answer of a pipeline that scores: the entity's id under its key, its score, and the values of `answer:`. */
export interface ScoreAnswer {
  /** Null if no step set it. */
  readonly score: number | null;
  /** Distinguishes the two kinds of answers. */
  readonly ranked_candidates?: undefined;
  /** Only if the request has `include_events: true`. */
  readonly events?: JsonText<readonly JsonObject[]>;
  readonly [name: string]: JsonValue | JsonText<readonly JsonObject[]> | undefined;
}

export type PipelineAnswer = RankingAnswer | ScoreAnswer;

export interface RankedCandidate {
  readonly candidate_id: string;
  readonly ranked_score: number;
  /** The label of a paid place; only there. */
  readonly sponsored?: string;
}

/** A score as JSON; null if there is none. */
export function finiteOrNull(score: number): number | null {
  return Number.isFinite(score) ? score : null;
}
