import fc from 'fast-check';

/** Words that every analyzer finds alike. No two of them together are a third one. */
const PLAIN = ['red', 'Road', 'running', 'shoe', 'a4', '2026', 'XL', 'lamp'];
/** Words of which analyzers make different things: joined, accented, of other scripts. */
const ODD = ["men's", 'T-shirt', 'Écran', '3.5', '赤い靴', 'straße', '№5', '—', 'wi_fi', 'ВЕЛО', '😀'];

const sentence = (words: readonly string[], maxLength: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...words), { maxLength })
    .chain((all) => fc.constantFrom(' ', ', ', '  ').map((space) => all.join(space)));

const texts = (maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: sentence(PLAIN, maxLength) },
    { weight: 1, arbitrary: sentence([...PLAIN, ...ODD], maxLength) },
  );

export const titles = texts(8);
export const queries = texts(4);

/** At least one word. A word that is shorter than an n-gram would differ. */
export const plainTexts = fc
  .uniqueArray(fc.constantFrom(...PLAIN.filter((word) => word.length > 2)), { minLength: 1 })
  .map((words) => words.join(' '));
