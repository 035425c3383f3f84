import type { JsonObject, JsonValue } from '../api/types.js';
import type { JsonText } from '../core/json-writer.js';

/** What the route of a pipeline that ranks answers: exactly the fields of the wire contract. */
export interface RankingAnswer {
  readonly ranked_candidates: readonly RankedCandidate[];
  /** Only when the request says `include_events: true`. */
  readonly events?: JsonText<readonly JsonObject[]>;
}

/** What the route of a pipeline that scores answers: the entity's id under its key, its score, what `answer:` names. */
export interface ScoreAnswer {
  /** Null where no step set it. */
  readonly score: number | null;
  /** What tells the two kinds of answers apart. */
  readonly ranked_candidates?: undefined;
  /** Only when the request says `include_events: true`. */
  readonly events?: JsonText<readonly JsonObject[]>;
  readonly [name: string]: JsonValue | JsonText<readonly JsonObject[]> | undefined;
}

export type PipelineAnswer = RankingAnswer | ScoreAnswer;

export interface RankedCandidate {
  readonly candidate_id: string;
  readonly ranked_score: number;
}
