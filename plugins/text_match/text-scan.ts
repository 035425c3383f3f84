import { ANY_START, LONGEST_TOKEN, type Analyzer, type Pieces, portions, type Token } from 'millrace/api';
import type { Match, QueryNumbers, TokenMatch } from './query-numbers.js';
import type { QueryTerms } from './query-terms.js';
import { shortestStretch } from './shortest-stretch.js';

/** The occurrences of a query's terms in many texts, by row. The next request reuses the memory. */
export class TextScan {
  /** `counts[row * terms + term]`: how often the term occurs. */
  counts = new Uint16Array(0);
  /** The number of tokens of each text. */
  lengths = new Uint32Array(0);
  /** 1 if the text has the query's tokens in sequence. */
  phrases = new Uint8Array(0);
  /** The number of tokens that are a term of the query, or a part of one. */
  matched = new Uint32Array(0);
  /** The place of the first of them, from 1; 0 if there is none. */
  first = new Uint32Array(0);
  /** How close the terms stand to each other, see `shortestStretch`. */
  proximity = new Float64Array(0);
  readonly #before: Token = { units: new Uint16Array(LONGEST_TOKEN), length: 0 };
  /** What the token that is read is to the query. */
  readonly #found: TokenMatch = { term: -1, compound: undefined, fits: 0 };
  /** The places and terms of the matches of one text. */
  #places = new Int32Array(64);
  #terms = new Uint8Array(64);
  #matches = 0;
  /** What the text that is scanned has so far: its tokens, those that match, and the state of the search. */
  #length = 0;
  #covered = 0;
  #run = 0;
  #runBefore = 0;
  #synonyms = 0;
  #beforeStarts = false;

  /** Makes room for `rows` texts and clears earlier results. */
  reset(rows: number, terms: number): void {
    if (this.counts.length < rows * terms) this.counts = new Uint16Array(rows * terms);
    else this.counts.fill(0, 0, rows * terms);
    if (this.lengths.length < rows) {
      this.lengths = new Uint32Array(rows);
      this.phrases = new Uint8Array(rows);
      this.matched = new Uint32Array(rows);
      this.first = new Uint32Array(rows);
      this.proximity = new Float64Array(rows);
    } else {
      for (const column of [this.lengths, this.phrases, this.matched, this.first, this.proximity])
        column.fill(0, 0, rows);
    }
  }

  /** Scans one text. Its counts add to those of earlier texts of the row. */
  scan(row: number, text: string, query: QueryTerms, analyzer: Analyzer): void {
    this.#begin();
    this.#read(row, text, query, analyzer);
    this.#finish(row, query);
  }

  /**
   * The same for a long text, portion by portion. Others may use the analyzer in a pause, but not this memory.
   * @param until when it pauses after each portion, by `performance.now()`
   */
  *scanInPieces(
    row: number,
    text: string,
    query: QueryTerms,
    analyzer: Analyzer,
    until: number,
  ): Pieces<void> {
    this.#begin();
    for (const portion of portions(text)) {
      this.#read(row, portion, query, analyzer);
      if (performance.now() > until) yield;
    }
    this.#finish(row, query);
  }

  /** Gives a row what another one has, whose texts are the same. */
  repeat(row: number, from: number, terms: number): void {
    this.counts.copyWithin(row * terms, from * terms, (from + 1) * terms);
    for (const column of [this.lengths, this.phrases, this.matched, this.first, this.proximity])
      column[row] = column[from] ?? 0;
  }

  /**
   * The same for a text that has a list of tokens, which was read before.
   * @param numbers the lists; this one starts at `place`
   */
  scanNumbers(row: number, numbers: Int32Array, place: number, query: QueryTerms, found: QueryNumbers): void {
    this.#begin();
    const length = numbers[place] as number;
    let before = -1;
    for (let i = 1; i <= length; i++) {
      const token = numbers[place + i] as number;
      const match = found.find(token);
      if (match === undefined) {
        this.#runBefore = this.#run;
        this.#run = this.#synonyms = 0;
      } else this.#take(row, i, query, match, joinedTo(match, before));
      before = token;
    }
    this.#length = length;
    this.#finish(row, query);
  }

  #begin(): void {
    this.#length = this.#covered = this.#matches = 0;
    this.#run = this.#runBefore = this.#synonyms = 0;
    this.#beforeStarts = false;
  }

  #read(row: number, text: string, query: QueryTerms, analyzer: Analyzer): void {
    const before = this.#before;
    const found = this.#found;
    const { token } = analyzer;
    const { hasSynonyms, starts: wanted } = query;
    let length = this.#length;
    let beforeStarts = this.#beforeStarts;
    analyzer.start(text);
    // A word that is written as two has its second part after a token that starts it.
    while (analyzer.next(beforeStarts ? ANY_START : wanted)) {
      if (analyzer.skipped > 0) {
        length += analyzer.skipped;
        this.#run = this.#synonyms = 0;
      }
      length++;
      const starts = ((wanted >>> ((token.units[0] as number) & 31)) & 1) !== 0;
      const term = starts ? query.find(token) : -1;
      const compound = starts && term < 0 ? query.findCompound(token) : undefined;
      const canJoin = term < 0 && compound === undefined && beforeStarts;
      found.term = term;
      found.compound = compound;
      found.fits = starts && hasSynonyms ? query.fitsOf(token) : 0;
      this.#take(row, length, query, found, canJoin ? query.findJoined(before, token) : -1);
      beforeStarts = starts;
      if (starts) {
        before.units.set(token.units);
        before.length = token.length;
      }
    }
    this.#length = length + analyzer.skipped;
    if (analyzer.skipped > 0) this.#run = this.#runBefore = this.#synonyms = 0;
    this.#beforeStarts = beforeStarts;
  }

  /**
   * Counts a token, and advances the search for the sequence of the query. Bit i of a run is set while the last tokens are the
   * first i + 1 tokens of the query. This is the shift-and algorithm (Baeza-Yates and Gonnet, "A new approach to text
   * searching", CACM 35, 1992) on tokens.
   * @param joined the term that the token before and this one are, written as one, or -1
   */
  #take(
    row: number,
    place: number,
    query: QueryTerms,
    { term, compound, fits }: TokenMatch,
    joined: number,
  ): void {
    const base = row * query.terms.length;
    const run = this.#run;
    let next = 0;
    if (term >= 0) {
      this.#count(base, term, place);
      this.#covered++;
      next = advance(run, term, query);
    } else if (compound !== undefined) {
      const [first, second] = compound;
      this.#count(base, first, place);
      this.#count(base, second, place);
      this.#covered++;
      next = advance(advance(run, first, query), second, query);
    } else if (joined >= 0) {
      this.#count(base, joined, place);
      this.#covered += 2; // the word before belongs to it
      next = advance(this.#runBefore, joined, query);
    }
    if (query.hasSynonyms) {
      this.#synonyms = query.advanceSynonyms(this.#synonyms, fits);
      if (this.#synonyms !== 0) {
        const matches = this.#matches;
        query.endedSynonyms(this.#synonyms, (other) => this.#count(base, other, place));
        if (term < 0 && next === 0 && this.#matches > matches) this.#covered++;
      }
    }
    if ((next & (1 << (query.length - 1))) !== 0) this.phrases[row] = 1;
    this.#runBefore = run;
    this.#run = next;
  }

  #finish(row: number, query: QueryTerms): void {
    const length = this.#length;
    const earlier = this.lengths[row] ?? 0;
    this.lengths[row] = earlier + length;
    if (this.#matches === 0) return;
    this.matched[row] = (this.matched[row] ?? 0) + Math.min(this.#covered, length);
    if (this.first[row] === 0) this.first[row] = earlier + (this.#places[0] ?? 0);
    const close = shortestStretch(this.#places, this.#terms, this.#matches, query.terms.length);
    if (close > (this.proximity[row] ?? 0)) this.proximity[row] = close;
  }

  #count(base: number, term: number, place: number): void {
    const count = this.counts[base + term] ?? 0;
    if (count < 0xffff) this.counts[base + term] = count + 1;
    if (this.#matches === this.#places.length) {
      const [places, terms] = [this.#places, this.#terms];
      this.#places = new Int32Array(places.length * 2);
      this.#places.set(places);
      this.#terms = new Uint8Array(terms.length * 2);
      this.#terms.set(terms);
    }
    this.#places[this.#matches] = place;
    this.#terms[this.#matches++] = term;
  }
}

function joinedTo({ term, compound, joined }: Match, before: number): number {
  if (term >= 0 || compound !== undefined) return -1;
  for (const one of joined) if (one.before === before) return one.term;
  return -1;
}

function advance(run: number, term: number, query: QueryTerms): number {
  return ((run << 1) | 1) & (query.places[term] ?? 0);
}
