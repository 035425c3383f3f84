import { type ModelColumns, ModelFileError } from 'millrace/api';
import type { LightGbmModel } from './model.js';

type CategoryCodes = ReadonlyMap<string | number, number>;

/**
 * The columns that a model reads, with the codes of pandas categories.
 * @throws ModelFileError if the file has categories and does not say of which columns
 */
export function columnsOf(model: LightGbmModel): ModelColumns {
  const { names, pandasCategories } = model;
  const unnamed = names.every((name, index) => name === `Column_${index}`);
  if (pandasCategories.length === 0) return { names, unnamed };
  const categories = new Map<number, CategoryCodes>();
  for (const [index, column] of categoryColumns(model).entries()) {
    const listed = pandasCategories[index] ?? [];
    const seen = model.seen[column];
    const beyond = typeof seen === 'object' ? seen.codes.find((code) => code >= listed.length) : undefined;
    if (beyond !== undefined) {
      throw new ModelFileError(
        `it lists ${listed.length} categories, and column \`${names[column]}\` has the code ${beyond}`,
      );
    }
    categories.set(column, codesOf(listed));
  }
  return { names, unnamed, categories };
}

/**
 * The file lists the category columns of the data frame in order, without names. For an ordered column, or one that no
 * tree uses, nothing else in the file says that it has categories.
 */
function categoryColumns({ seen, toldCategorical, pandasCategories }: LightGbmModel): readonly number[] {
  const columns = [...seen.keys()];
  const used = columns.filter((column) => typeof seen[column] === 'object');
  const perhaps = columns.filter((column) => seen[column] !== 'numbers');
  const found = [toldCategorical, used, perhaps].find(({ length }) => length === pandasCategories.length);
  if (found !== undefined) return found;
  throw new ModelFileError(
    `it lists categories of ${pandasCategories.length} columns, and its trees use ${used.length} such columns, so the codes are not known; train on the codes instead (\`.cat.codes\`)`,
  );
}

function codesOf(categories: readonly unknown[]): CategoryCodes {
  const codes = new Map<string | number, number>();
  for (const [code, value] of categories.entries()) {
    if (typeof value === 'string' || typeof value === 'number') codes.set(value, code);
    else if (typeof value === 'boolean') codes.set(Number(value), code);
  }
  return codes;
}
