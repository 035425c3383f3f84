import {
  BREAK,
  expansion,
  FIRST_ALONE,
  fold,
  folds,
  lower,
  lowered,
  MANY,
  SKIP,
  standsAlone,
} from './characters.js';
import { languageEntry, stopWordsOf } from './languages.js';
import { analyzerText, PLAIN, type AnalyzerSettings } from './analyzer-settings.js';
import { rewriter } from './rewrite.js';
import { singular } from './stemmers/plural.js';
import { LONGEST_TOKEN, type Token } from './token.js';
import { WordTable } from './word-table.js';

/** Every unit may start a wanted token. */
export const ANY_START = -1;

/**
 * Splits texts into tokens: runs of letters and digits of any script. Tokens are folded (case, accents, width) and
 * stemmed. It allocates no strings for words that it knows.
 */
export class Analyzer {
  /** The last token that `next` found. */
  readonly token: Token = { units: new Uint16Array(LONGEST_TOKEN), length: 0 };
  /** The number of tokens that the last `next` skipped before it. */
  skipped = 0;
  readonly settings: AnalyzerSettings;
  /** Equal for analyzers that make the same tokens. */
  readonly name: string;
  /** Whether letters keep their accents until they are stemmed. */
  readonly #keepsLetters: boolean;
  /** By unit: the letter of a token, if it is known to be one. */
  readonly #letters: Uint16Array;
  /** Changes the text before it is split; undefined if nothing does. */
  readonly #rewrite: ((text: string) => string) | undefined;
  /** Replaces words by their stems, and drops stop words; undefined for a rule that needs no table. */
  readonly #words: WordTable | undefined;
  readonly #segmented: boolean;
  readonly #plural: boolean;
  readonly #ngrams: number;
  /** Whether no table and no n-grams come after the scan: the fast way. */
  readonly #isSimple: boolean;
  #text = '';
  #at = 0;
  /** The word whose n-grams are given. */
  readonly #word = new Uint16Array(LONGEST_TOKEN);
  #wordLength = 0;
  #gram = 0;

  constructor(settings: Partial<AnalyzerSettings> = PLAIN) {
    const all = { ...PLAIN, ...settings };
    this.settings = all;
    this.name = analyzerText(all);
    const { language, stemming, stopWords, accents, ngrams } = all;
    const keepsLetters = stemming === 'language' || accents === 'keep';
    this.#keepsLetters = keepsLetters;
    this.#letters = keepsLetters ? lowered : folds;
    this.#rewrite = rewriter(all, keepsLetters);
    this.#segmented = language !== undefined && languageEntry(language).unspaced === true;
    this.#ngrams = ngrams;
    const needsTable =
      stemming === 'language' || stopWords === 'drop' || (keepsLetters && accents === 'fold');
    this.#plural = stemming === 'plural' && !needsTable;
    this.#isSimple = !needsTable && ngrams === 0;
    this.#words = needsTable ? new WordTable(this.#resolver()) : undefined;
  }

  start(text: string): void {
    this.#text = this.#rewrite === undefined ? text : this.#rewrite(text);
    this.#at = 0;
    this.#wordLength = 0;
  }

  /**
   * Moves to the next token; false at the end of the text.
   * @param starts bit u & 31 is set for each unit u that may start a wanted token. Other tokens may be skipped, which costs
   *   less than to read them.
   */
  next(starts = ANY_START): boolean {
    this.skipped = 0;
    if (this.#isSimple) {
      if (!this.#scan(starts)) return false;
      if (this.#plural) this.token.length = singular(this.token.units, this.token.length);
      return true;
    }
    return this.#ngrams === 0 ? this.#nextWord() : this.#nextGram();
  }

  /** The tokens of a text as strings. For queries and statistics, not for the texts of candidates. */
  tokens(text: string): string[] {
    const tokens: string[] = [];
    this.start(text);
    while (this.next()) tokens.push(this.#string());
    return tokens;
  }

  /** The one token of a compound of two words; undefined if it is none. */
  compound(first: string, second: string): string | undefined {
    const tokens = this.tokens(first + second);
    return tokens.length === 1 ? tokens[0] : undefined;
  }

  /** The words of a text as they are before stemming, each with its token. Stop words are left out. */
  words(text: string): { readonly word: string; readonly token: string }[] {
    const bare = new Analyzer({ ...this.settings, stemming: 'none', stopWords: 'keep', accents: 'keep' });
    return bare.tokens(text).flatMap((word) => this.tokens(word).map((token) => ({ word, token })));
  }

  #string(): string {
    return String.fromCharCode(...this.token.units.subarray(0, this.token.length));
  }

  #nextWord(): boolean {
    while (this.#scan(ANY_START)) {
      if (this.#plural) this.token.length = singular(this.token.units, this.token.length);
      if (this.#words === undefined || this.#words.replace(this.token)) return true;
    }
    return false;
  }

  /** The runs of n letters of each word; a shorter word is one of them. */
  #nextGram(): boolean {
    const { token } = this;
    const size = this.#ngrams;
    if (this.#gram + size > this.#wordLength) {
      if (!this.#nextWord()) return false;
      this.#word.set(token.units);
      this.#wordLength = token.length;
      this.#gram = 0;
    }
    const length = Math.min(size, this.#wordLength);
    for (let i = 0; i < length; i++) token.units[i] = this.#word[this.#gram + i] as number;
    token.length = length;
    this.#gram++;
    return true;
  }

  /** Moves to the next run of letters and digits. */
  #scan(starts: number): boolean {
    const text = this.#text;
    const keepsLetters = this.#keepsLetters;
    const letters = this.#letters;
    const { units } = this.token;
    const end = text.length;
    let at = this.#at;
    let length = 0;
    while (at < end) {
      const unit = text.charCodeAt(at);
      // Nearly all characters are a letter or a space that was seen before.
      const letter = letters[unit] as number;
      if (letter > MANY && letter < FIRST_ALONE) {
        at++;
        if (length === 0 && ((starts >>> (letter & 31)) & 1) === 0) {
          at = this.#skip(at, starts);
          continue;
        }
        if (length < LONGEST_TOKEN) units[length++] = letter;
        continue;
      }
      if (letter === BREAK && unit < FIRST_SURROGATE) {
        if (length > 0) break;
        at++;
        continue;
      }
      const codePoint = isSurrogate(unit) ? (text.codePointAt(at) ?? unit) : unit;
      const width = codePoint > 0xffff ? 2 : 1;
      const folded = keepsLetters ? lower(codePoint) : fold(codePoint);
      if (folded > MANY) {
        if (standsAlone(folded) && !this.#segmented) {
          if (length > 0) break;
          units[length++] = folded;
          at += width;
          break;
        }
        if (length < LONGEST_TOKEN) units[length++] = folded;
      } else if (folded === BREAK) {
        if (length > 0) break;
      } else if (folded !== SKIP) {
        for (const part of expansion(codePoint)) if (length < LONGEST_TOKEN) units[length++] = part;
      }
      at += width;
    }
    this.#at = at;
    this.token.length = length;
    return length > 0;
  }

  /**
   * Skips the run of letters and digits that `at` is in, and those after it while their first letter is not wanted.
   * @returns the end of the last of them, or the first letter of the next one
   */
  #skip(at: number, starts: number): number {
    const text = this.#text;
    const letters = this.#letters;
    const end = text.length;
    let isInside = true;
    this.skipped++;
    while (at < end) {
      const unit = text.charCodeAt(at);
      const letter = letters[unit] as number;
      if (letter > MANY && letter < FIRST_ALONE) {
        if (!isInside) {
          if (((starts >>> (letter & 31)) & 1) !== 0) return at;
          isInside = true;
          this.skipped++;
        }
        at++;
        continue;
      }
      if (letter === BREAK && unit < FIRST_SURROGATE) {
        isInside = false;
        at++;
        continue;
      }
      // A letter that was not seen before, or one with a part of its own: `#scan` reads it if it begins a token.
      if (!isInside) return at;
      const codePoint = isSurrogate(unit) ? (text.codePointAt(at) ?? unit) : unit;
      const folded = this.#keepsLetters ? lower(codePoint) : fold(codePoint);
      if (folded === BREAK || (folded > MANY && standsAlone(folded) && !this.#segmented)) return at;
      at += codePoint > 0xffff ? 2 : 1;
    }
    return end;
  }

  /** What becomes of a word: its stem without accents, or '' for a stop word. */
  #resolver(): (word: string) => string {
    const { language, stemming, stopWords, accents } = this.settings;
    const stops = new Set<string>();
    if (stopWords === 'drop' && language !== undefined) {
      for (const word of stopWordsOf(language) ?? []) stops.add(word).add(folded(word));
    }
    const stem =
      stemming === 'language' && language !== undefined ? languageEntry(language).stem?.() : undefined;
    const units = new Uint16Array(LONGEST_TOKEN);
    return (word) => {
      if (stops.has(word)) return '';
      let stemmed = stem === undefined ? word : stem(word);
      if (stemming === 'plural') {
        for (let i = 0; i < word.length; i++) units[i] = word.charCodeAt(i);
        stemmed = String.fromCharCode(...units.subarray(0, singular(units, word.length)));
      }
      if (stemmed === '') return word;
      return accents === 'fold' ? folded(stemmed) : stemmed;
    };
  }
}

/** A word without accents, in the form that tokens have. */
function folded(word: string): string {
  const units = Array.from(word, (character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    const unit = fold(codePoint);
    if (unit > MANY) return String.fromCharCode(unit);
    if (unit !== MANY) return '';
    return String.fromCharCode(...expansion(codePoint));
  });
  return units.join('');
}

const FIRST_SURROGATE = 0xd800;

function isSurrogate(unit: number): boolean {
  return unit >= FIRST_SURROGATE && unit <= 0xdfff;
}
