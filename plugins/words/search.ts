import { Best, type EntityFilter, type Pieces } from 'millrace/api';
import { COUNT_SHIFT, DOCUMENT_BITS, DOCUMENT_MASK, FIELD_MASK, LIVE, type WordIndex } from './word-index.js';
import type { Alternative, QueryWords } from './word-query.js';

/** The parameters of BM25F (S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). */
export interface Scoring {
  readonly k1: number;
  readonly b: number;
  /** By field. */
  readonly weights: readonly number[];
}

export interface Hit {
  readonly id: string;
  readonly score: number;
}

/** Numbers by document, and the documents that have one. */
class Sums {
  values = new Float64Array(1024);
  documents = new Int32Array(1024);
  count = 0;

  open(documents: number): void {
    if (documents <= this.values.length) return;
    this.values = new Float64Array(Math.ceil(1.25 * documents));
    this.documents = new Int32Array(this.values.length);
  }

  add(document: number, value: number): void {
    if (this.values[document] === 0) this.documents[this.count++] = document;
    this.values[document] = (this.values[document] as number) + value;
  }

  clear(): void {
    for (let i = 0; i < this.count; i++) this.values[this.documents[i] as number] = 0;
    this.count = 0;
  }
}

/** The memory of a search. */
class Scratch {
  readonly scores = new Sums();
  readonly frequencies = new Sums();
  readonly together = new Sums();
  readonly one = new Sums();

  open(documents: number): void {
    for (const sums of [this.scores, this.frequencies, this.together, this.one]) {
      sums.clear();
      sums.open(documents);
    }
  }
}

/** The memory of searches that are over. */
const idle: Scratch[] = [];
const MOST_IDLE = 2;

/**
 * The entities that have any word of the query, best first, equal ones by id. Other words that stand for a word of the query
 * count as that word: in how often an entity has it, and in how many entities have it. An entity that changes between two pieces
 * may be found as it was, or twice.
 * @param filter by default, all entities count
 */
export function* search(
  index: WordIndex,
  query: QueryWords,
  scoring: Scoring,
  most: number,
  filter?: EntityFilter,
): Pieces<readonly Hit[]> {
  const scratch = idle.pop() ?? new Scratch();
  const { scores, frequencies } = scratch;
  const { k1 } = scoring;
  for (;;) {
    const { sweeps } = index;
    scratch.open(index.ids.length);
    for (const alternatives of query) {
      for (const alternative of alternatives) {
        count(index, alternative, scoring, scratch);
        yield;
      }
      const rarity = Math.log1p((index.size - frequencies.count + 0.5) / (frequencies.count + 0.5));
      for (let i = 0; i < frequencies.count; i++) {
        const document = frequencies.documents[i] as number;
        const frequency = frequencies.values[document] as number;
        scores.add(document, (rarity * frequency * (k1 + 1)) / (frequency + k1));
      }
      frequencies.clear();
      yield;
    }
    const hits = yield* best(index, scores, most, filter);
    // A sweep gives the numbers of documents to others, so the search begins again.
    if (sweeps !== index.sweeps) continue;
    if (idle.length < MOST_IDLE) idle.push(scratch);
    return hits;
  }
}

/** Adds what entities have of an alternative: of several words, as much as of that which they have least of. */
function count(
  index: WordIndex,
  { words, weight }: Alternative,
  scoring: Scoring,
  { frequencies, together, one }: Scratch,
): void {
  const [first, ...more] = words.map((word) => index.vocabulary.numberOf(word));
  if (first === undefined || first < 0 || more.includes(-1)) return;
  if (more.length === 0) {
    read(index, first, weight, scoring, frequencies);
    return;
  }
  read(index, first, weight, scoring, together);
  for (const word of more) {
    read(index, word, weight, scoring, one);
    for (let i = 0; i < together.count; i++) {
      const document = together.documents[i] as number;
      const least = Math.min(together.values[document] as number, one.values[document] as number);
      together.values[document] = least;
    }
    one.clear();
  }
  for (let i = 0; i < together.count; i++) {
    const document = together.documents[i] as number;
    const value = together.values[document] as number;
    if (value > 0) frequencies.add(document, value);
  }
  together.clear();
}

/** Adds the occurrences of a word, each by the weight and the length of its field. */
function read(index: WordIndex, word: number, weight: number, { b, weights }: Scoring, into: Sums): void {
  const { occurrences, lengths, states, fieldCount } = index;
  const { cells } = occurrences;
  const { values, documents } = into;
  const shares = weights.map((_, field) => b / index.meanLength(field));
  const start = occurrences.starts[word] as number;
  const end = start + (occurrences.lengths[word] as number);
  let found = into.count;
  for (let at = start; at < end; at++) {
    const cell = cells[at] as number;
    const document = cell & DOCUMENT_MASK;
    if (states[document] !== LIVE) continue;
    const field = (cell >>> DOCUMENT_BITS) & FIELD_MASK;
    const length = lengths[document * fieldCount + field] as number;
    const norm = 1 - b + (shares[field] as number) * length;
    const before = values[document] as number;
    if (before === 0) documents[found++] = document;
    values[document] = before + (weight * (weights[field] as number) * (cell >>> COUNT_SHIFT)) / norm;
  }
  into.count = found;
}

/** The best documents by score, then by id. */
function* best(index: WordIndex, scores: Sums, most: number, filter?: EntityFilter): Pieces<Hit[]> {
  const { documents, values } = scores;
  const order = (a: number, b: number): number => {
    const difference = (values[b] as number) - (values[a] as number);
    return difference === 0 ? ((index.ids[a] as string) < (index.ids[b] as string) ? -1 : 1) : difference;
  };
  const kept = new Best(
    most,
    order,
    filter && ((all) => filter(all.map((document) => index.ids[document] as string))),
  );
  for (let i = 0; i < scores.count; i++) if (kept.add(documents[i] as number)) yield;
  return kept
    .sorted()
    .map((document) => ({ id: index.ids[document] as string, score: values[document] as number }));
}
