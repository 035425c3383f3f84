import { words } from '../../ground/core/words.js';
import { LANGUAGES, stopWordsOf, type Language } from '../../ground/text/index.js';

/** Languages whose script says which they are, the most certain first. Han alone is Chinese. */
const SCRIPTS: readonly (readonly [Language, RegExp])[] = [
  ['japanese', /[\p{sc=Hira}\p{sc=Kana}]/u],
  ['korean', /\p{sc=Hang}/u],
  ['thai', /\p{sc=Thai}/u],
  ['chinese', /\p{sc=Han}/u],
];
/** What titles say that have no stop words: colours, and for whom. Most catalogues of clothes, toys or furniture have some. */
const TITLE_WORDS: Readonly<Partial<Record<Language, readonly string[]>>> = {
  english: words('black white blue green grey yellow women men size colour'),
  german: words('schwarz weiß blau grün grau gelb damen herren kinder größe'),
  french: words('noir blanc bleu vert gris jaune femme homme enfant taille'),
  italian: words('nero bianco blu verde grigio giallo donna uomo bambino taglia'),
  spanish: words('negro blanco azul verde gris amarillo mujer hombre niño talla'),
  dutch: words('zwart wit blauw groen grijs geel dames heren kinderen maat'),
  swedish: words('svart vit blå grön grå gul dam herr barn storlek'),
};
/** Rare words, such as the numbers of models, say nothing, so a few stop words are enough; but not by chance. */
const LEAST_WORDS = 3;
const LEAST_SHARE = 0.02;
/** So many times the count of the next language. */
const LEAST_LEAD = 1.3;

/** The language of texts, and why. */
export interface GuessedLanguage {
  readonly language: Language;
  readonly why: string;
}

/** Finds the language of texts by its common words in them, or by their script. */
export class LanguageCount {
  #words = 0;
  readonly #counts = new Map<Language, number>();
  readonly #seen = new Map<string, number>();
  readonly #lists = commonWords();

  add(text: string): void {
    const script = SCRIPTS.find(([, letters]) => letters.test(text))?.[0];
    for (const word of text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []) {
      this.#words += 1;
      if (script !== undefined) this.#count(script);
      for (const language of this.#lists.get(word) ?? []) this.#count(language);
      if (this.#lists.has(word)) this.#seen.set(word, (this.#seen.get(word) ?? 0) + 1);
    }
  }

  #count(language: Language): void {
    this.#counts.set(language, (this.#counts.get(language) ?? 0) + 1);
  }

  /** Undefined if the texts do not say it. */
  language(): GuessedLanguage | undefined {
    const [best, next] = [...this.#counts].sort(([, a], [, b]) => b - a);
    if (best === undefined) return undefined;
    const [language, count] = best;
    const isClear = count >= LEAST_WORDS && count >= LEAST_SHARE * this.#words;
    if (!isClear || count < LEAST_LEAD * (next?.[1] ?? 0)) return undefined;
    const examples = [...this.#seen]
      .filter(([word]) => this.#lists.get(word)?.includes(language) === true)
      .sort(([, a], [, b]) => b - a)
      .slice(0, 3)
      .map(([word]) => word);
    const share = `${((100 * count) / this.#words).toFixed(0)} % of the words are`;
    const why = examples.length === 0 ? 'in its script' : `common words of it (${examples.join(', ')})`;
    return { language, why: `${share} ${why}` };
  }
}

/** The common words of all languages, each with the languages that have it. */
function commonWords(): ReadonlyMap<string, readonly Language[]> {
  const languages = new Map<string, Language[]>();
  for (const language of LANGUAGES)
    for (const word of new Set([...(stopWordsOf(language) ?? []), ...(TITLE_WORDS[language] ?? [])]))
      languages.set(word, [...(languages.get(word) ?? []), language]);
  return languages;
}
