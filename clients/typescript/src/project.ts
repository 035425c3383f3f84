/** A whole number means its decimal text: `7` and `"7"` are one id. */
export type Id = string | number;
type Json = Record<string, unknown>;

/** The types of a project. `millrace types --write` makes them. */
export interface ProjectTypes {
  /** What an upload stores, by entity type. */
  readonly entities: object;
  /** What a push stores, by feature view. */
  readonly rows: object;
  /** The pipelines that rank candidates, by name. */
  readonly rank: object;
  /** The pipelines that score one entity, by name. */
  readonly score: object;
  /** The events of feedback, of any kind. */
  readonly interaction: object;
  /** The entities that feedback is of. */
  readonly owners: object;
}

/** Any project. */
export interface AnyProject extends ProjectTypes {
  readonly entities: Record<string, Json>;
  readonly rows: Record<string, Json>;
  readonly rank: Record<
    string,
    { readonly request: Json & { candidates: readonly Json[] }; readonly answer: RankAnswer }
  >;
  readonly score: Record<string, { readonly request: Json; readonly answer: ScoreAnswer }>;
  readonly interaction: Json & { type: string };
  readonly owners: Record<string, Json | null>;
}

export interface Ranked {
  readonly candidate_id: string;
  readonly ranked_score: number;
}

export interface RankAnswer {
  readonly ranked_candidates: readonly Ranked[];
  /** Only with `include_events`. */
  readonly events?: readonly object[];
}

export interface ScoreAnswer {
  readonly score: number | null;
  readonly [name: string]: unknown;
}

export type Name<T> = Extract<keyof T, string>;
export type RequestOf<P> = P extends { readonly request: infer R } ? R : never;
export type AnswerOf<P> = P extends { readonly answer: infer A } ? A : never;
/** What the endpoint answers about a write. */
export interface Stored {
  readonly entity_type: string;
  readonly entity_ids: readonly string[];
  /** Entities that were not stored, since a later one has the same id. */
  readonly duplicates?: number;
}

export interface Updated {
  readonly entity_type: string;
  readonly entity_ids: readonly string[];
  readonly updated: number;
  readonly created: number;
  /** They are not stored, and were not created. */
  readonly unknown_ids: readonly string[];
}

export interface Pushed {
  readonly view: string;
  readonly stored: number;
  readonly older: number;
  readonly expired: number;
}

export interface DeletedRows {
  readonly view: string;
  readonly deleted: number;
  readonly older: number;
}

export interface OnlineFeatures {
  readonly metadata: { readonly feature_names: readonly string[] };
  readonly results: readonly {
    readonly values: readonly unknown[];
    readonly statuses: readonly ('PRESENT' | 'NULL_VALUE' | 'NOT_FOUND' | 'OUTSIDE_MAX_AGE' | 'INVALID')[];
    readonly event_timestamps: readonly string[];
  }[];
}

export interface FeedbackCounts {
  readonly request_id: string | null;
  readonly stored: number;
  readonly duplicates: number;
  readonly too_old: number;
  readonly unused: number;
  readonly uncounted: number;
}

export interface Forgotten {
  readonly entity_type: string;
  readonly removed: Readonly<Record<string, number>>;
  readonly keys_read: number;
  readonly files: 'pending' | 'rewritten' | 'server';
  readonly copies: readonly string[];
  readonly cursor: string | null;
}

/** What is compared: over one of `judgments`, `logged`, `queries` and `experiment`. */
export interface ComparisonRequest {
  readonly pipeline?: string;
  readonly against?: string;
  readonly judgments?: string;
  readonly logged?: number;
  readonly queries?: readonly string[];
  readonly experiment?: string;
  readonly query_field?: string;
  readonly slice?: string;
  readonly metrics?: readonly string[];
  readonly require?: readonly string[];
  /** With `logged`: what the drafts of this name change. */
  readonly draft?: string;
  /** With `draft`: the time of the rules, ISO 8601. */
  readonly at?: string;
}

/** How far a comparison of the workbench is. */
export interface Comparison {
  /** Its id. */
  readonly comparison: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped';
  readonly request: ComparisonRequest;
  readonly author: string | null;
  readonly at: string;
  /** From 0 to 1; null if it is not known. */
  readonly progress: number | null;
  readonly notes: readonly string[];
  readonly problem: string | null;
}

/** The comparisons, and the names that one may use. */
export interface Comparisons {
  readonly pipelines: readonly string[];
  readonly judgments: readonly string[];
  readonly experiments: readonly string[];
  readonly comparisons: readonly Comparison[];
}

/** A pipeline of a round of judging, perhaps with other values of some params. */
export interface JudgingArm {
  readonly pipeline: string;
  readonly params?: Readonly<Record<string, number>>;
}

/** What starts a round of judging. */
export interface JudgingStart {
  readonly round: string;
  readonly arms: readonly JudgingArm[];
  readonly queries: readonly string[];
  readonly depth?: number;
  readonly grades?: readonly number[];
  readonly query_field?: string;
}

export interface JudgingRound {
  readonly round: string;
  readonly arms: readonly JudgingArm[];
  /** How many. */
  readonly queries: number;
  readonly depth: number;
  readonly grades: readonly number[];
  readonly author: string | null;
  readonly at: string;
}

/** A query as a judge sees it: without arms and scores. */
export interface JudgedQuery {
  readonly round: string;
  readonly number: number;
  readonly queries: number;
  readonly query: string;
  readonly judge: string;
  readonly grades: readonly number[];
  readonly skipped: boolean;
  readonly candidates: readonly {
    readonly candidate_id: string;
    readonly card?: Json;
    readonly grade: number | null;
  }[];
  readonly done: readonly number[];
}

/** The grades of a round as a file for `evaluate` and `tune`, and how far the judges agree. */
export interface JudgingExport {
  readonly round: string;
  readonly file: string;
  readonly csv: string;
  readonly queries: number;
  readonly rows: number;
  readonly judges: readonly { readonly judge: string; readonly grades: number; readonly skipped: number }[];
  readonly agreement: {
    readonly candidates: number;
    readonly percent: number | null;
    readonly alpha: number | null;
  };
}

/** A request of the ledger, with the values that it had. */
export interface LoggedRanking {
  readonly request_id: string;
  readonly pipeline: string;
  readonly at: string;
  readonly body: Json;
  readonly notes: readonly string[];
  readonly candidates: readonly {
    readonly candidate_id: string;
    readonly place: number | null;
    readonly score: number | null;
    readonly values: Json;
  }[];
}

/** A ranking as a test of the project. */
export interface KeptTest {
  readonly file: string;
  readonly yaml: string;
  readonly notes: readonly string[];
}

/** What an invited person may do. */
export type Role = 'judge' | 'merchandiser' | 'scientist' | 'operator' | 'admin';

export interface Invitation {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly pipelines?: readonly string[];
  readonly entity_types?: readonly string[];
  readonly created: string;
  readonly expires: string;
  readonly revoked?: string;
  readonly state: 'valid' | 'expired' | 'revoked';
}

/** A link to the preview of a draft, without its text. */
export interface PreviewLink {
  readonly id: string;
  readonly draft: string;
  readonly pipeline: string;
  /** The time of the rules; null: when it is opened. */
  readonly at: string | null;
  readonly author: string | null;
  readonly created: string;
  readonly expires: string;
  readonly state: 'valid' | 'expired' | 'revoked';
}

export interface Readiness {
  readonly ready: boolean;
  readonly status: 'OK' | 'NOT_READY';
  readonly project_version?: string;
  /** True if this instance serves an earlier release instead of its files. */
  readonly rolled_back?: true;
  readonly checks: Readonly<
    Record<string, { readonly status: string; readonly code?: string; readonly reason?: string }>
  >;
  readonly warnings?: readonly { readonly code: string; readonly detail: string }[];
}
