import { OptionError } from 'millrace/api';

/** The code of each category. */
export type Vocabulary = ReadonlyMap<string, number>;

/**
 * Categories whose code is their position, from 0.
 * @throws OptionError for a duplicate, at its place in the list at `path`
 */
export function positions(categories: readonly string[], path: readonly (string | number)[]): Vocabulary {
  const codes = new Map<string, number>();
  for (const [position, category] of categories.entries()) {
    const earlier = codes.get(category);
    if (earlier !== undefined) {
      throw new OptionError(
        [...path, position],
        `\`${category}\` occurs twice: at position ${earlier} and at ${position}`,
        'a category has one code; remove one of the two',
      );
    }
    codes.set(category, position);
  }
  return codes;
}
