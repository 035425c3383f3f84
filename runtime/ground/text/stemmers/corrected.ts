/**
 * What Snowball 3 changed in stemmers that the package has from Snowball 2. Each takes the stemmer of the package and
 * returns the newer one.
 */
type Stem = (word: string) => string;

/** Snowball 3 undoubles these consonants at the end of a word, and no others: `succes` → `succ`. */
const UNDOUBLED = /[bdfgklmnprst]$/u;

export function danish(stem: Stem): Stem {
  return (word) => {
    const stemmed = stem(word);
    const last = stemmed.at(-1) ?? '';
    const wasDouble = /[^aeiouyåæø']$/u.test(stemmed) && word.startsWith(stemmed + last);
    return wasDouble && !UNDOUBLED.test(last) ? stemmed + last : stemmed;
  };
}

/** -ers is no ending after these letters, which end words such as `kikkers` and `sengekammers`. */
const KEEPS_ERS = /(?:ind|kk|nk|amm|omm|(?<!s)kap|pp|lt|ast|øst|(?<!ha|gi)v)ers$/u;
const VOWEL = /[aeiouyåæêòóôø]/u;

export function norwegian(stem: Stem): Stem {
  return (word) => {
    if (!word.endsWith('ers')) return stem(word);
    return KEEPS_ERS.test(word) || regionOf(word) > word.length - 3 ? word : stem(word);
  };
}

/** The start of R1: after the first consonant that follows a vowel, at least three letters into the word. */
function regionOf(word: string): number {
  let at = 0;
  while (at < word.length && !VOWEL.test(word.charAt(at))) at++;
  while (at < word.length && VOWEL.test(word.charAt(at))) at++;
  return Math.max(3, Math.min(word.length, at + 1));
}

const WITH_CEDILLA: Readonly<Record<string, string>> = { ș: 'ş', ț: 'ţ' };
const WITH_COMMA: Readonly<Record<string, string>> = { ş: 'ș', ţ: 'ț' };

/** Snowball 3 reads ș and ț with a comma, as Romanian spells them, and with a cedilla as one letter. */
export function romanian(stem: Stem): Stem {
  return (word) =>
    stem(word.replace(/[șț]/gu, (letter) => WITH_CEDILLA[letter] ?? letter)).replace(
      /[şţ]/gu,
      (letter) => WITH_COMMA[letter] ?? letter,
    );
}

/** Snowball 3 reads -acion and -ucion, as they are often typed, as -ación and -ución. */
export function spanish(stem: Stem): Stem {
  return (word) => stem(word.replace(/(?<=[au])cion$/u, 'ción'));
}
