import type { TextDictionary } from '../api/columns.js';
import type { Analyzer } from './analyzer.js';
import { PORTION, portions } from './reading.js';

/** Longer texts have no list: to read one takes too long at once. */
const LONGEST = 4 * PORTION;
/** Estimated bytes of a token of the vocabulary. */
const TOKEN_BYTES = 100;

const known = new WeakMap<TextDictionary, Map<string, TokenLists>>();

/**
 * The tokens of the texts of a dictionary, as numbers. A text is read once for each analyzer, however many steps, functions and
 * requests ask for it.
 */
export class TokenLists {
  /** Lists of tokens, each after its length. It is replaced when it grows. */
  numbers = new Int32Array(0);
  readonly #dictionary: TextDictionary;
  readonly #analyzer: Analyzer;
  readonly #tokens: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** By code of the text: 1 + the place of its list. */
  #places = new Int32Array(0);
  #used = 0;
  #isFull = false;

  private constructor(dictionary: TextDictionary, analyzer: Analyzer) {
    this.#dictionary = dictionary;
    this.#analyzer = analyzer;
  }

  /** The lists of an analyzer. Analyzers with equal settings share them. */
  static of(dictionary: TextDictionary, analyzer: Analyzer): TokenLists {
    const ofTexts = known.get(dictionary) ?? new Map<string, TokenLists>();
    known.set(dictionary, ofTexts);
    const lists = ofTexts.get(analyzer.name) ?? new TokenLists(dictionary, analyzer);
    ofTexts.set(analyzer.name, lists);
    return lists;
  }

  /** The tokens of all texts that were read, by number. */
  get vocabulary(): readonly string[] {
    return this.#tokens;
  }

  /** The number of a token; -1 if no text that was read has it. */
  numberOf(token: string): number {
    return this.#numbers.get(token) ?? -1;
  }

  /** Where the list of a text is in `numbers`; -1 if it has none. */
  placeOf(code: number): number {
    const place = this.#places[code] ?? 0;
    return place > 0 ? place - 1 : this.#read(code);
  }

  /** Whether a text was read before. */
  has(code: number): boolean {
    return (this.#places[code] ?? 0) > 0;
  }

  #read(code: number): number {
    const text = this.#dictionary.texts[code];
    if (this.#isFull || text === undefined || text.length > LONGEST) return -1;
    const list: number[] = [];
    for (const portion of portions(text)) {
      for (const token of this.#analyzer.tokens(portion)) {
        const number = this.numberOf(token);
        if (number < 0) {
          if (!this.#take(TOKEN_BYTES)) return -1;
          this.#numbers.set(token, this.#tokens.push(token) - 1);
        }
        list.push(number < 0 ? this.#tokens.length - 1 : number);
      }
    }
    const place = this.#used;
    const used = place + 1 + list.length;
    const places = this.#grown(this.#places, code + 1);
    const numbers = this.#grown(this.numbers, used);
    if (places === undefined || numbers === undefined) return -1;
    this.#places = places;
    this.numbers = numbers;
    this.numbers[place] = list.length;
    this.numbers.set(list, place + 1);
    this.#places[code] = place + 1;
    this.#used = used;
    return place;
  }

  /** Undefined if there is no room. */
  #grown(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> | undefined {
    if (length <= array.length) return array;
    const size = Math.max(256, Math.ceil(1.5 * length));
    if (!this.#take(4 * (size - array.length))) return undefined;
    const larger = new Int32Array(size);
    larger.set(array);
    return larger;
  }

  #take(bytes: number): boolean {
    if (!this.#dictionary.take(bytes)) this.#isFull = true;
    return !this.#isFull;
  }
}
