/** The parameters of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009). */
export interface Bm25Parameters {
  /** How quickly further occurrences of a term stop adding to the score. */
  readonly k1: number;
  /** How much the length of a text lowers its score: 0 not at all, 1 in full. */
  readonly b: number;
}

/**
 * The idf of a term that n of N texts contain, as Lucene computes it: ln(1 + (N - n + 0.5) / (n + 0.5)). It is never
 * negative.
 */
export function inverseDocumentFrequency(documents: number, containing: number): number {
  const n = Math.min(containing, documents);
  return Math.log(1 + (documents - n + 0.5) / (n + 0.5));
}
