import { isUtf8 } from 'node:buffer';
import { ModelFileError, numbersAt, type Json } from './model.js';

/**
 * The categories that XGBoost 3.1 and later keep of a data frame's category columns: by column, the code of each.
 * Texts are UTF-8 bytes end to end with offsets, other categories are numbers.
 */
export function readCategories(model: Json): ReadonlyMap<number, ReadonlyMap<string | number, number>> {
  const found = new Map<number, ReadonlyMap<string | number, number>>();
  const cats = model['cats'] as Json | undefined;
  const encoded = cats?.['enc'];
  if (!Array.isArray(encoded)) return found;
  for (const [column, one] of (encoded as readonly unknown[]).entries()) {
    if (typeof one !== 'object' || one === null) throw new ModelFileError('`cats` is not what it should be');
    const values = numbersAt(one as Json, 'values');
    const codes = new Map<string | number, number>();
    if ('offsets' in one) {
      const offsets = numbersAt(one, 'offsets');
      const bytes = Buffer.from(Uint8Array.from(values));
      for (let code = 0; code + 1 < offsets.length; code++) {
        const text = bytes.subarray(offsets[code], offsets[code + 1]);
        if (!isUtf8(text)) {
          throw new ModelFileError(
            `the categories of column ${column} are not whole: from pandas, XGBoost writes texts wrongly that are not ASCII; train on their codes (\`.cat.codes\`)`,
          );
        }
        codes.set(text.toString('utf8'), code);
      }
    } else for (const [code, value] of values.entries()) codes.set(value, code);
    // A column that is not of categories has none.
    if (codes.size > 0) found.set(column, codes);
  }
  return found;
}
