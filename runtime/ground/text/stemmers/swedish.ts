/**
 * The stemmer of Swedish, as Snowball 3.1 defines it (snowballstem.org/algorithms/swedish). The package of the other
 * stemmers has the Swedish stemmer of Snowball 2, which keeps -et: `huset` → `hus`.
 *
 * R1 is the part after the first consonant that follows a vowel, at least three letters into the word.
 */
const VOWEL = 'aeiouyäåö';
const REGION = new RegExp(`[${VOWEL}][^${VOWEL}]`, 'u');

const ENDINGS_1 =
  /(?:heterna|hetens|heter|heten|anden|arnas|ernas|ornas|andes|andet|arens|arna|erna|orna|ande|arne|aste|aren|ades|erns|ade|are|ern|ens|het|ast|ad|en|ar|er|or|as|es|at|et|a|e|s)$/u;
const PAIRS = /(?:dd|gd|nn|dt|gt|kt|tt)$/u;
const ENDINGS_3 = /(?:fullt|lig|els|öst|ig)$/u;

const BEFORE_S = /[bcdfghjklmnoprtvy]$/u;
const BEFORE_OST = /[iklnprtuv]$/u;
/** What precedes -et: a vowel and a consonant, and a letter before them. */
const BEFORE_ET = new RegExp(`.[${VOWEL}][^${VOWEL}]$`, 'u');
/** After these, -et belongs to the word, as in `alfabet`, `paket` and `universitet`. */
const KEEPS_ET = /(?:fab|h|pak|rak|stak|kom|iet|(?:[cdmnprstux]|al|il|iv|kv)it)$/u;

/** @param word in lower case */
export function stemSwedish(word: string): string {
  const found = REGION.exec(word);
  const r1 = found === null || word.length < 3 ? word.length : Math.max(3, found.index + 2);
  const stem = withoutInflection(word, r1);
  return withoutSuffix(PAIRS.test(stem.slice(r1)) ? stem.slice(0, -1) : stem, r1);
}

function withoutInflection(word: string, r1: number): string {
  const ending = ENDINGS_1.exec(word.slice(r1))?.[0];
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  if (ending === 'et') return mayLoseEt(stem) ? stem : word;
  if (ending !== 's') return stem;
  if (stem.endsWith('et') && mayLoseEt(stem.slice(0, -2))) return stem.slice(0, -2);
  return BEFORE_S.test(stem) ? stem : word;
}

function mayLoseEt(stem: string): boolean {
  return BEFORE_ET.test(stem) && !KEEPS_ET.test(stem);
}

function withoutSuffix(word: string, r1: number): string {
  const ending = ENDINGS_3.exec(word.slice(r1))?.[0];
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  if (ending === 'fullt') return `${stem}full`;
  if (ending !== 'öst') return stem;
  return BEFORE_OST.test(stem) ? `${stem}ös` : word;
}
