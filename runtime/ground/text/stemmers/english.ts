/**
 * The stemmer of English, as Snowball 3.1 defines it (M. Porter, "Porter2"; snowballstem.org/algorithms/english). The
 * package of the other stemmers has Porter's first algorithm for English, which gives other stems.
 *
 * A `Y` is a consonant y. R1 is the part after the first consonant that follows a vowel; R2 is R1 of R1.
 */
const EXCEPTIONS = new Map([
  ...['andes', 'atlas', 'bias', 'cosmos', 'howe', 'news', 'sky'].map((word) => [word, word] as const),
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
]);
/** R1 begins after these beginnings of words. */
const R1_AFTER = /^(?:arsen|commun|emerg|gener|inter|later|organ|past|univers)/u;
const REGION = /[aeiouy][^aeiouy]/u;
const SHORT_END = /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|past)$/u;
/** Words on -ing whose -ing is no ending: evening, herring. */
const WHOLE_ING = /^(?:even|cann|inn|earr|herr|out)ing$/u;

/** By the ending in R1, longest first: what replaces it. */
const STEP_2: readonly (readonly [string, string])[] = byLength([
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['abli', 'able'],
  ['entli', 'ent'],
  ['izer', 'ize'],
  ['ization', 'ize'],
  ['ational', 'ate'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['alli', 'al'],
  ['fulness', 'ful'],
  ['ousli', 'ous'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['bli', 'ble'],
  ['ogist', 'og'],
  ['ogi', 'og'],
  ['fulli', 'ful'],
  ['lessli', 'less'],
  ['li', ''],
]);
const STEP_3: readonly (readonly [string, string])[] = byLength([
  ['tional', 'tion'],
  ['ational', 'ate'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
  ['ative', ''],
]);
const STEP_4 = byLength(
  'al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion'
    .split(' ')
    .map((ending) => [ending, ''] as const),
);

function byLength(endings: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return [...endings].sort(([a], [b]) => b.length - a.length);
}

/** @param word in lower case */
export function stemEnglish(word: string): string {
  const exception = EXCEPTIONS.get(word);
  if (exception !== undefined) return exception;
  if (word.length < 3) return word;
  let stem = word.replace(/^'/u, '').replace(/^y/u, 'Y');
  // A y after a consonant y is a vowel.
  stem = stem.replaceAll(/([aeiouy])y/gu, '$1Y');
  const r1 = R1_AFTER.exec(stem)?.[0].length ?? regionAfter(stem, 0);
  const r2 = regionAfter(stem, r1);
  stem = step1b(step1a(stem), r1);
  stem = stem.replace(/(?<=.[^aeiouy])[yY]$/u, 'i');
  stem = step2(stem, r1);
  stem = step3(stem, r1, r2);
  stem = step4(stem, r2);
  return step5(stem, r1, r2).replaceAll('Y', 'y');
}

function regionAfter(word: string, from: number): number {
  const found = REGION.exec(word.slice(from));
  return found === null ? word.length : from + found.index + 2;
}

function step1a(word: string): string {
  const stem = word.replace(/'(?:s'?)?$/u, '');
  if (stem.endsWith('sses')) return stem.slice(0, -2);
  if (/ie[ds]$/u.test(stem)) return stem.slice(0, stem.length > 4 ? -2 : -1);
  if (/[us]s$/u.test(stem) || !stem.endsWith('s')) return stem;
  return /[aeiouy].+s$/u.test(stem) ? stem.slice(0, -1) : stem;
}

function step1b(word: string, r1: number): string {
  const ending = /(?:eedly|eed|ingly|edly|ing|ed)$/u.exec(word)?.[0];
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  if (ending.startsWith('ee')) {
    if (stem.length < r1 || /^(?:succ|proc|exc)$/u.test(stem)) return word;
    return `${stem}ee`;
  }
  if (ending === 'ing') {
    if (WHOLE_ING.test(word)) return word;
    if (/^[^aeiouy]y$/u.test(stem)) return `${stem.slice(0, -1)}ie`;
  }
  if (!/[aeiouy]/u.test(stem)) return word;
  if (/(?:at|bl|iz)$/u.test(stem)) return `${stem}e`;
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/u.test(stem)) {
    return /^[aeo]..$/u.test(stem) ? stem : stem.slice(0, -1);
  }
  return stem.length === r1 && SHORT_END.test(stem) ? `${stem}e` : stem;
}

function step2(word: string, r1: number): string {
  for (const [ending, other] of STEP_2) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    if (stem.length < r1) return word;
    if (ending === 'ogi' && !stem.endsWith('l')) return word;
    if (ending === 'li' && !/[cdeghkmnrt]$/u.test(stem)) return word;
    return stem + other;
  }
  return word;
}

function step3(word: string, r1: number, r2: number): string {
  for (const [ending, other] of STEP_3) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    return stem.length < (ending === 'ative' ? r2 : r1) ? word : stem + other;
  }
  return word;
}

function step4(word: string, r2: number): string {
  for (const [ending] of STEP_4) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    return stem.length < r2 || (ending === 'ion' && !/[st]$/u.test(stem)) ? word : stem;
  }
  return word;
}

function step5(word: string, r1: number, r2: number): string {
  const stem = word.slice(0, -1);
  if (word.endsWith('e')) {
    return stem.length >= r2 || (stem.length >= r1 && !SHORT_END.test(stem)) ? stem : word;
  }
  return word.endsWith('ll') && stem.length >= r2 ? stem : word;
}
