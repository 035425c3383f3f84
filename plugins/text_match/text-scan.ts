import { LONGEST_TOKEN, type Analyzer, type Token } from './analyzer.js';
import type { QueryTerms } from './query-terms.js';

/** The occurrences of a query's terms in many texts, by row. The next request reuses the memory. */
export class TextScan {
  /** `counts[row * terms + term]`: how often the term occurs. */
  counts = new Uint16Array(0);
  /** The number of tokens of each text. */
  lengths = new Uint32Array(0);
  /** 1 if the text has the query's tokens in sequence. */
  phrases = new Uint8Array(0);
  readonly #before: Token = { units: new Uint16Array(LONGEST_TOKEN), length: 0 };

  /** Makes room for `rows` texts and clears earlier results. */
  reset(rows: number, terms: number): void {
    if (this.counts.length < rows * terms) this.counts = new Uint16Array(rows * terms);
    else this.counts.fill(0, 0, rows * terms);
    if (this.lengths.length < rows) {
      this.lengths = new Uint32Array(rows);
      this.phrases = new Uint8Array(rows);
    } else {
      this.lengths.fill(0, 0, rows);
      this.phrases.fill(0, 0, rows);
    }
  }

  /** Scans one text. Its counts add to those of earlier texts of the row. */
  scan(row: number, text: string, query: QueryTerms, analyzer: Analyzer): void {
    const before = this.#before;
    const { token } = analyzer;
    const base = row * query.terms.length;
    const complete = 1 << (query.length - 1);
    let length = 0;
    let beforeStarts = false;
    // Bit i is set while the last tokens are the first i + 1 tokens of the query. This is the shift-and algorithm
    // (Baeza-Yates and Gonnet, "A new approach to text searching", CACM 35, 1992) on tokens.
    let run = 0;
    let runBefore = 0;
    analyzer.start(text);
    while (analyzer.next()) {
      length++;
      const starts = query.mayStart(token.units[0] ?? 0);
      const term = starts ? query.find(token) : -1;
      let next = 0;
      if (term >= 0) {
        this.#count(base + term);
        next = advance(run, term, query);
      } else {
        const compound = starts ? query.findCompound(token) : undefined;
        const joined = compound === undefined && beforeStarts ? query.findJoined(before, token) : -1;
        if (compound !== undefined) {
          const [first, second] = compound;
          this.#count(base + first);
          this.#count(base + second);
          next = advance(advance(run, first, query), second, query);
        } else if (joined >= 0) {
          this.#count(base + joined);
          next = advance(runBefore, joined, query);
        }
      }
      if ((next & complete) !== 0) this.phrases[row] = 1;
      runBefore = run;
      run = next;
      beforeStarts = starts;
      if (starts) {
        before.units.set(token.units);
        before.length = token.length;
      }
    }
    this.lengths[row] = (this.lengths[row] ?? 0) + length;
  }

  #count(at: number): void {
    const count = this.counts[at] ?? 0;
    if (count < 0xffff) this.counts[at] = count + 1;
  }
}

function advance(run: number, term: number, query: QueryTerms): number {
  return ((run << 1) | 1) & (query.places[term] ?? 0);
}
