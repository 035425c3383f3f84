import { ModelFileError } from 'millrace/api';
import { isUtf8 } from 'node:buffer';
import { asObject, indexesAt, numbersAt, type Json } from './json.js';

/**
 * The categories of a data frame's category columns, which XGBoost 3.1 and later save: by column, the code of each.
 * Texts are stored as UTF-8 bytes in sequence, with offsets. Other categories are numbers.
 */
export function readCategories(
  model: Json,
  features: number,
): ReadonlyMap<number, ReadonlyMap<string | number, number>> {
  const found = new Map<number, ReadonlyMap<string | number, number>>();
  const cats = model['cats'] as Json | undefined;
  const encoded = cats?.['enc'];
  if (cats === undefined || !Array.isArray(encoded)) return found;
  if (encoded.length !== 0 && encoded.length !== features) {
    throw new ModelFileError(`\`cats\` has ${encoded.length} columns, and the model ${features}`);
  }
  let total = 0;
  const segments = cats['feature_segments'] === undefined ? [] : indexesAt(cats, 'feature_segments');
  for (const [column, one] of (encoded as readonly unknown[]).entries()) {
    const category = asObject(one);
    const values = numbersAt(category, 'values');
    const codes = new Map<string | number, number>();
    let count = values.length;
    if ('offsets' in category) {
      const offsets = numbersAt(category, 'offsets');
      count = Math.max(0, offsets.length - 1);
      if ((offsets.at(-1) ?? 0) !== values.length || offsets.some((at, i) => at < (offsets[i - 1] ?? 0))) {
        throw new ModelFileError(`the categories of column ${column} are damaged: their offsets do not fit`);
      }
      const bytes = Buffer.from(Uint8Array.from(values));
      for (let code = 0; code + 1 < offsets.length; code++) {
        const text = bytes.subarray(offsets[code], offsets[code + 1]);
        if (!isUtf8(text)) {
          throw new ModelFileError(
            `the categories of column ${column} are damaged: XGBoost writes pandas texts that are not ASCII wrongly; train on their codes (\`.cat.codes\`)`,
          );
        }
        codes.set(text.toString('utf8'), code);
      }
    } else for (const [code, value] of values.entries()) codes.set(value, code);
    total += count;
    if (segments.length > 0 && segments[column + 1] !== total) {
      throw new ModelFileError(`\`feature_segments\` does not fit the categories of column ${column}`);
    }
    // Columns without categories have an empty entry in the file.
    if (codes.size > 0) found.set(column, codes);
  }
  return found;
}
