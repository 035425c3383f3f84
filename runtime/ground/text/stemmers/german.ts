/**
 * The stemmer of German, as Snowball 3.1 defines it (snowballstem.org/algorithms/german). The package of the other
 * stemmers has the German stemmer of Snowball 2, which keeps -et and -erin.
 *
 * `U` and `Y` are consonants between vowels. R1 is the part after the first consonant that follows a vowel, at least
 * three letters into the word; R2 is R1 of R1.
 */
const VOWEL = 'aeiouyäöü';
const REGION = new RegExp(`[${VOWEL}][^${VOWEL}]`, 'u');
const BETWEEN_VOWELS = new RegExp(`(?<=[${VOWEL}])[uy](?=[${VOWEL}])`, 'gu');
const DIGRAPHS: Readonly<Record<string, string>> = { ß: 'ss', ae: 'ä', oe: 'ö', qu: 'qu', ue: 'ü' };
const PLAIN: Readonly<Record<string, string>> = { U: 'u', Y: 'y', ä: 'a', ö: 'o', ü: 'u' };

const ENDINGS_1 = /(?:erinnen|erin|lns|ern|em|en|er|es|ln|e|s)$/u;
const ENDINGS_2 = /(?:est|en|er|et|st)$/u;
const ENDINGS_3 = /(?:isch|lich|heit|keit|end|ung|ig|ik)$/u;

/** @param word in lower case */
export function stemGerman(word: string): string {
  let stem = word.replaceAll(BETWEEN_VOWELS, (letter) => letter.toUpperCase());
  stem = stem.replaceAll(/ß|ae|oe|qu|ue/gu, (found) => DIGRAPHS[found] ?? found);
  const first = regionAfter(stem, 0);
  const r2 = regionAfter(stem, first);
  const r1 = stem.length < 3 ? stem.length : Math.max(first, 3);
  stem = step1(stem, r1);
  stem = step2(stem, r1);
  stem = step3(stem, r1, r2);
  stem = stem.replace(/(?<=.)(?:'sch|'s|')$/u, '');
  return stem.replaceAll(/[UYäöü]/gu, (letter) => PLAIN[letter] ?? letter);
}

function regionAfter(word: string, from: number): number {
  if (from >= word.length || word.length < 3) return word.length;
  const found = REGION.exec(word.slice(from));
  return found === null ? word.length : from + found.index + 2;
}

function step1(word: string, r1: number): string {
  const ending = ENDINGS_1.exec(word)?.[0];
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  if (stem.length < r1) return word;
  switch (ending) {
    case 'em':
      return stem.endsWith('syst') ? word : stem;
    case 'e':
    case 'en':
    case 'es':
      return stem.endsWith('niss') ? stem.slice(0, -1) : stem;
    case 's':
      return /[bdfghklmnrt]$/u.test(stem) ? stem : word;
    case 'ln':
    case 'lns':
      return `${stem}l`;
    default:
      return stem;
  }
}

function step2(word: string, r1: number): string {
  const ending = ENDINGS_2.exec(word)?.[0];
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  if (stem.length < r1) return word;
  if (ending === 'st') return /...[bdfghklmnt]$/u.test(stem) ? stem : word;
  if (ending !== 'et') return stem;
  return /[Udfgklmnrstzä]$/u.test(stem) && !/(?:tick|plan|geordn|intern|tr)$/u.test(stem) ? stem : word;
}

function step3(word: string, r1: number, r2: number): string {
  const ending = ENDINGS_3.exec(word)?.[0];
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  if (stem.length < r2) return word;
  switch (ending) {
    case 'end':
    case 'ung':
      return without(stem, /(?<!e)ig$/u, r2);
    case 'lich':
    case 'heit':
      return without(stem, /e[rn]$/u, r1);
    case 'keit':
      return without(stem, /(?:lich|ig)$/u, r2);
    default:
      return stem.endsWith('e') ? word : stem;
  }
}

/** Removes a further ending if it lies after `region`. */
function without(word: string, ending: RegExp, region: number): string {
  const found = ending.exec(word);
  return found !== null && found.index >= region ? word.slice(0, found.index) : word;
}
