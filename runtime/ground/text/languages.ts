import { createRequire } from 'node:module';
import { danish, norwegian, romanian, spanish } from './stemmers/corrected.js';
import { stemEnglish } from './stemmers/english.js';
import { stemGerman } from './stemmers/german.js';
import { stemSwedish } from './stemmers/swedish.js';
import { STOP_WORDS } from './stop-words.js';

const require = createRequire(import.meta.url);

/** Gives the stem of a word in lower case. */
export type Stem = (word: string) => string;

interface LanguageEntry {
  /** The subtag of BCP 47, as in `de` or `de-AT`. */
  readonly code: string;
  /** Undefined for a language whose words have no endings. */
  readonly stem?: () => Stem;
  /** The version of Snowball whose stems it gives. */
  readonly snowball?: 2 | 3;
  /** The stemmer belongs to Millrace, not to the package. */
  readonly own?: boolean;
  /** What is joined to a word by an apostrophe: l'écran, shop's. Its last character becomes a space. */
  readonly elided?: RegExp;
  /** The capital of ı is I, and that of i is İ. */
  readonly dotless?: boolean;
  /** Compounds are written as one word. */
  readonly compounds?: boolean;
  /** Words are written without spaces, so a dictionary finds their boundaries. */
  readonly unspaced?: boolean;
}

/** A stemmer of @orama/stemmers, which has those of Snowball 2. A language that nobody uses is not loaded. */
function packaged(name: string): () => Stem {
  return () => (require(`@orama/stemmers/${name}`) as { readonly stemmer: Stem }).stemmer;
}

const ELIDED_ENGLISH = /(?<=\p{L})['\u2019]s(?!\p{L})/giu;
const ELIDED_FRENCH = /\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['\u2019](?=\p{L})/giu;
const ELIDED_ITALIAN =
  /\b(?:[cdlmnstv]|un|gl|all|dall|dell|nell|sull|coll|quell|quest|sant|bell)['\u2019](?=\p{L})/giu;

/** By name: the languages whose words are stemmed or segmented. The stems of those with `snowball: 3` are of both. */
const TABLE = {
  arabic: { code: 'ar', stem: packaged('arabic'), snowball: 3 },
  armenian: { code: 'hy', stem: packaged('armenian'), snowball: 3 },
  chinese: { code: 'zh', unspaced: true },
  danish: { code: 'da', stem: () => danish(packaged('danish')()), snowball: 3, compounds: true },
  dutch: { code: 'nl', stem: packaged('dutch'), snowball: 2, compounds: true },
  english: { code: 'en', stem: () => stemEnglish, snowball: 3, own: true, elided: ELIDED_ENGLISH },
  finnish: { code: 'fi', stem: packaged('finnish'), snowball: 2, compounds: true },
  french: { code: 'fr', stem: packaged('french'), snowball: 2, elided: ELIDED_FRENCH },
  german: { code: 'de', stem: () => stemGerman, snowball: 3, own: true, compounds: true },
  greek: { code: 'el', stem: packaged('greek'), snowball: 3 },
  hungarian: { code: 'hu', stem: packaged('hungarian'), snowball: 3, compounds: true },
  indonesian: { code: 'id', stem: packaged('indonesian'), snowball: 3 },
  irish: { code: 'ga', stem: packaged('irish'), snowball: 3 },
  italian: { code: 'it', stem: packaged('italian'), snowball: 3, elided: ELIDED_ITALIAN },
  japanese: { code: 'ja', unspaced: true },
  korean: { code: 'ko' },
  lithuanian: { code: 'lt', stem: packaged('lithuanian'), snowball: 3 },
  norwegian: { code: 'no', stem: () => norwegian(packaged('norwegian')()), snowball: 3, compounds: true },
  portuguese: { code: 'pt', stem: packaged('portuguese'), snowball: 3 },
  romanian: { code: 'ro', stem: () => romanian(packaged('romanian')()), snowball: 3 },
  russian: { code: 'ru', stem: packaged('russian'), snowball: 3 },
  serbian: { code: 'sr', stem: packaged('serbian'), snowball: 3 },
  spanish: { code: 'es', stem: () => spanish(packaged('spanish')()), snowball: 3 },
  swedish: { code: 'sv', stem: () => stemSwedish, snowball: 3, own: true, compounds: true },
  tamil: { code: 'ta', stem: packaged('tamil'), snowball: 3 },
  thai: { code: 'th', unspaced: true },
  turkish: { code: 'tr', stem: packaged('turkish'), snowball: 3, dotless: true },
} as const satisfies Readonly<Record<string, LanguageEntry>>;

export type Language = keyof typeof TABLE;

export const LANGUAGES: readonly Language[] = Object.keys(TABLE) as Language[];

const ENTRIES: Readonly<Record<Language, LanguageEntry>> = TABLE;
const BY_NAME: ReadonlyMap<string, Language> = new Map([
  ...LANGUAGES.flatMap((language) => [
    [language as string, language] as const,
    [ENTRIES[language].code, language] as const,
  ]),
  ['nb', 'norwegian'],
  ['nn', 'norwegian'],
]);

export function languageEntry(language: Language): LanguageEntry {
  return ENTRIES[language];
}

/** The language of a name or a tag of BCP 47 (`german`, `de`, `de-AT`, `de_AT`); undefined for any other text. */
export function languageOf(text: string): Language | undefined {
  const name = text.trim().toLowerCase();
  return BY_NAME.get(name) ?? BY_NAME.get(/^[a-z]{2}(?=[-_])/u.exec(name)?.[0] ?? '');
}

/** Whether a language writes compounds as one word: Regenjacke. */
export function joinsWords(language: Language | undefined): boolean {
  return language !== undefined && ENTRIES[language].compounds === true;
}

/** The languages that have a list of stop words. */
export function stopWordsOf(language: Language): readonly string[] | undefined {
  const list = (STOP_WORDS as Readonly<Record<string, string | undefined>>)[language];
  return list?.split(/\s+/u);
}

/** The languages as a Markdown table, for docs/text.md. */
export function languageTable(): string {
  const rows = LANGUAGES.map((language) => {
    const { code, snowball, unspaced } = ENTRIES[language];
    const stems = snowball === undefined ? '' : `Snowball ${snowball}`;
    const words = unspaced === true ? 'by a dictionary' : '';
    const stops = stopWordsOf(language)?.length ?? '';
    return `| \`${language}\` | \`${code}\` | ${stems} | ${words} | ${stops} |`;
  });
  return ['| language | tag | stems | boundaries | stop words |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}
