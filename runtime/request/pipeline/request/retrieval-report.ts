/** What can become of a retriever in a request. */
export const RETRIEVER_OUTCOMES = {
  found: 'it answered, perhaps with no candidates',
  partial: 'it answered, and says that its answer is not whole',
  late: 'it did not answer in time',
  failed: 'it failed',
  not_asked: 'its `when` was not true',
} as const;
export type RetrieverOutcome = keyof typeof RETRIEVER_OUTCOMES;

/** One retriever of a request, for the metrics, the log and the explanation. */
export interface RetrieverReport {
  readonly as: string;
  readonly outcome: RetrieverOutcome;
  /** Candidates, each counted once. */
  readonly found: number;
  readonly ms: number;
  /** Why it is late, failed or not whole. */
  readonly reason?: string;
}

/** Where the candidates came from. */
export interface RetrievalReport {
  readonly retrievers: readonly RetrieverReport[];
  /** Different candidates of all retrievers. */
  readonly found: number;
  /** Those of them that are beyond `most`: their number, and the first ids. */
  readonly cut: { readonly count: number; readonly ids: readonly string[] };
  /** If an explanation asks for a candidate: its place in each list that has it, and in the merged list, which may be beyond `most`. */
  readonly sought?: { readonly places: Readonly<Record<string, number>>; readonly merged?: number };
}

/** Candidates that pins brought, and how many had no room. */
export interface BroughtCandidates {
  readonly ids: readonly string[];
  readonly left_out: number;
}

/** An output of a retriever for all candidates that were found. */
export interface RetrievedColumn {
  readonly values: Float64Array;
  /** The status of values that are NaN: these are not known. */
  readonly status: number;
}

/** The merged list, and its columns. */
export interface Retrieved {
  readonly ids: readonly string[];
  /** The row of each id in the columns. */
  readonly order: Int32Array;
  /** By name, such as `words:score`. */
  readonly columns: ReadonlyMap<string, RetrievedColumn>;
  readonly report: RetrievalReport;
}

/** Candidates that pins brought, and how many had no room. */
export interface BroughtCandidates {
  readonly ids: readonly string[];
  readonly left_out: number;
}
