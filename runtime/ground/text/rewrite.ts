import { cached } from '../core/bounded-cache.js';
import { normalized } from '../core/unicode-form.js';
import type { AnalyzerSettings } from './analyzer-settings.js';
import { languageEntry } from './languages.js';
import { withBaseUnits } from './quantities.js';
import { portions } from './reading.js';

/** The most rewritten texts that an analyzer remembers, and the longest of them. */
const REMEMBERED = 8192;
const LONGEST_REMEMBERED = 2048;

const MARKS = /[\u0300-\u036f]/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * What changes a text before it is split into words: amounts in base units, composed letters for a stemmer, the small
 * letters of Turkish, elided words, and boundaries in scripts without spaces. Undefined if nothing has to change.
 * @param composed whether letters keep their accents
 */
export function rewriter(
  { language, units }: AnalyzerSettings,
  composed: boolean,
): ((text: string) => string) | undefined {
  const changes: ((text: string) => string)[] = [];
  if (composed) changes.push((text) => (MARKS.test(text) ? normalized(text, 'NFC') : text));
  if (units) changes.push(withBaseUnits);
  const entry = language === undefined ? undefined : languageEntry(language);
  const { elided } = entry ?? {};
  // Without accents, all four are one letter.
  if (composed && entry?.dotless === true)
    changes.push((text) => text.replaceAll('I', 'ı').replaceAll('İ', 'i'));
  if (elided !== undefined)
    changes.push((text) => text.replaceAll(elided, (found) => `${found.slice(0, -1)} `));
  if (entry?.unspaced === true) changes.push(segmented(entry.code));
  if (changes.length === 0) return undefined;
  const rewrite = (text: string): string => changes.reduce((changed, change) => change(changed), text);
  const remembered = cached(rewrite, REMEMBERED);
  return (text) => (text.length > LONGEST_REMEMBERED ? rewrite(text) : remembered(text));
}

/** Half the most units that ICU divides at once, if a text has no place to cut. */
const SEGMENTED = 256;

const KATAKANA = /^[\p{Script=Katakana}\u30fc]+$/u;

/**
 * Puts a space at every boundary of words, as the dictionaries of ICU find them (Unicode UAX 29). A run of katakana is one
 * word: it is a word of another language, which the dictionary often does not have.
 */
function segmented(locale: string): (text: string) => string {
  const segmenter = new Intl.Segmenter(locale, { granularity: 'word' });
  return (text) => {
    if (!UNSPACED.test(text)) return text;
    let spaced = '';
    let afterKatakana = false;
    // The longer a text is, the longer ICU takes for each of its words.
    for (const part of portions(normalized(text, 'NFKC'), SEGMENTED))
      for (const { segment } of segmenter.segment(part)) {
        const isKatakana = KATAKANA.test(segment);
        spaced += afterKatakana && isKatakana ? segment : ` ${segment}`;
        afterKatakana = isKatakana;
      }
    return spaced;
  };
}
