/** The parameters of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009). */
export interface Bm25Parameters {
  /** How soon further occurrences of a term stop to count. */
  readonly k1: number;
  /** How much a long text is held against its matches: 0 not at all, 1 in full. */
  readonly b: number;
}

/** ln(1 + (N - n + 0.5) / (n + 0.5)) for a term that n of N texts contain: Lucene's idf, never negative. */
export function inverseDocumentFrequency(documents: number, containing: number): number {
  const n = Math.min(containing, documents);
  return Math.log(1 + (documents - n + 0.5) / (n + 0.5));
}
