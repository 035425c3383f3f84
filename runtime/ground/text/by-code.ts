import type { TextColumn, TextDictionary, TextsColumn } from '../api/columns.js';

/** A whole number of a text, at least -1. */
export type NumberOfText = (text: string) => number;

/** Numbers of texts, such as the number of a category, each found once for each text that a dictionary keeps. */
export class ByCode {
  readonly #of: NumberOfText;
  /** By code: 2 + the number, or 0 if it was not found yet. */
  readonly #known = new WeakMap<TextDictionary, Int32Array>();

  constructor(of: NumberOfText) {
    this.#of = of;
  }

  /** Gives the number of a value of the column, by its place. Use it before the next await. */
  reader({ values, codes, dictionary }: TextColumn | TextsColumn): (at: number) => number {
    const known = dictionary && this.#knownOf(dictionary);
    if (known === undefined || codes === undefined) return (at) => this.#of(values[at] as string);
    return (at) => {
      const code = codes[at] as number;
      if (!(code >= 0 && code < known.length)) return this.#of(values[at] as string);
      const found = known[code] as number;
      if (found > 0) return found - 2;
      const number = this.#of(values[at] as string);
      known[code] = number + 2;
      return number;
    };
  }

  #knownOf(dictionary: TextDictionary): Int32Array | undefined {
    const known = this.#known.get(dictionary);
    const { length } = dictionary.texts;
    if (known !== undefined && known.length >= length) return known;
    const size = Math.ceil(1.25 * length) + 64;
    if (!dictionary.take(4 * (size - (known?.length ?? 0)))) return known;
    const larger = new Int32Array(size);
    if (known !== undefined) larger.set(known);
    this.#known.set(dictionary, larger);
    return larger;
  }
}
