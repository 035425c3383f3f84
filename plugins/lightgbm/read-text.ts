import { type DecisionTree, type FileNotice, inTree, ModelFileError, type Pieces } from 'millrace/api';
import { isWholeImportance, SplitCounts } from './importances.js';
import type { ColumnSeen, LightGbmModel } from './model.js';
import { fieldsOf, wholeNumber, words, type Fields } from './text-fields.js';
import { readTree } from './text-tree.js';

/**
 * Reads the text that `save_model` writes (LightGBM 2 to 4): a header of `key=value` lines, a block for each tree, and
 * then information about the training, of which only `pandas_categorical` matters. All counts and end markers of the
 * format are checked. The versions write:
 *
 *   up to 2.0.10   no `tree_sizes`; the trees end at `feature importances:`
 *   2.0.11 – 2.1   `tree_sizes` has the bytes of each tree
 *   2.2 and later  the trees end at `end of trees`, the parameters at `end of parameters`
 *
 * In all versions, Python adds a last line `pandas_categorical:…`. Other languages and the command line do not.
 * @param withCovers whether the trees get their covers, which scores do not need
 * @throws ModelFileError
 */
export function* readText(written: string, withCovers: boolean): Pieces<LightGbmModel> {
  // The line ends of LightGBM, or those that a checkout on Windows converts them to.
  const text = written.includes('\r') ? written.replaceAll('\r\n', '\n') : written;
  if (!/^tree *\n/.test(text)) throw new ModelFileError('it does not begin like a LightGBM model');
  const { starts, end, isOld } = placesOf(text);
  const header = fieldsOf(text.slice(text.indexOf('\n') + 1, starts[0] ?? end).split('\n'));
  checkSizes(header, starts, end);
  const { names, treesPerIteration } = readHeader(header);

  const trees: DecisionTree[] = [];
  // If the file has the size of each tree, importances are not checked: they differ in a file saved from a later
  // iteration.
  const isSized = header.has('tree_sizes');
  const splits = new SplitCounts(names);
  for (const [index, start] of starts.entries()) {
    yield;
    const [number = '', ...lines] = text.slice(start, starts[index + 1] ?? end).split('\n');
    if (number !== `Tree=${index}`) {
      throw new ModelFileError(`expected Tree=${index}, found \`${number.slice(0, 40)}\``);
    }
    const [tree, gains] = inTree(index, () => {
      const fields = fieldsOf(lines);
      return [readTree(fields, index % treesPerIteration, withCovers), fields.get('split_gain')] as const;
    });
    if (!isSized) splits.add(tree.feature, words(gains ?? '').map(Number));
    trees.push(tree);
  }
  const trailer = text.slice(end).split('\n');
  if (!isSized) splits.check(importancesOf(trailer));
  const seen = words(header.get('feature_infos') ?? '').map(columnSeen);
  return {
    names,
    treesPerIteration,
    objective: header.get('objective') ?? '',
    average: header.has('average_output'),
    trees,
    seen,
    toldCategorical: toldCategorical(trailer),
    pandasCategories: pandasCategories(trailer),
    notices: noticesOf(trailer, isOld, seen),
  };
}

interface Places {
  /** The start of each tree. */
  readonly starts: readonly number[];
  /** The end of the trees. */
  readonly end: number;
  /** Whether LightGBM 2.0 or 2.1 wrote the file. */
  readonly isOld: boolean;
}

function placesOf(text: string): Places {
  const marker = text.indexOf('\nend of trees\n');
  // In old files there is an empty line before the heading.
  const heading = marker < 0 ? text.indexOf('\n\nfeature importances:\n') : -1;
  if (marker < 0 && heading < 0) {
    throw new ModelFileError('it is cut short: there is no `end of trees`', 'copy the file again');
  }
  const end = Math.max(marker, heading) + 1;
  const starts: number[] = [];
  for (let at = text.indexOf('\nTree='); at >= 0 && at < end; at = text.indexOf('\nTree=', at + 1))
    starts.push(at + 1);
  return { starts, end, isOld: marker < 0 };
}

/** Checks the sizes in bytes in `tree_sizes`. A tree is ASCII, so characters are bytes. */
function checkSizes(header: Fields, starts: readonly number[], end: number): void {
  const written = header.get('tree_sizes');
  if (written === undefined) return;
  const sizes = words(written);
  if (sizes.length !== starts.length) {
    throw new ModelFileError(`\`tree_sizes\` lists ${sizes.length} trees, and the file has ${starts.length}`);
  }
  for (const [index, start] of starts.entries()) {
    const size = (starts[index + 1] ?? end) - start;
    if (sizes[index] === String(size)) continue;
    throw new ModelFileError(
      `tree ${index} has ${size} bytes, and \`tree_sizes\` says ${sizes[index] ?? ''}`,
      'a file that was changed after save_model is not read; save the model again',
    );
  }
}

function readHeader(header: Fields): { names: readonly string[]; treesPerIteration: number } {
  const features = wholeNumber(header, 'max_feature_idx') + 1;
  const names = words(header.get('feature_names') ?? '');
  if (names.length !== features) {
    throw new ModelFileError(`it has ${features} features and ${names.length} names of features`);
  }
  for (const key of ['feature_infos', 'monotone_constraints']) {
    const listed = header.get(key);
    const count = words(listed ?? '').length;
    // If training had no constraints, the list is missing or empty.
    if (count === features || (key === 'monotone_constraints' && count === 0)) continue;
    throw new ModelFileError(
      listed === undefined ? `\`${key}\` is missing` : `it has ${features} features and ${count} \`${key}\``,
    );
  }
  wholeNumber(header, 'label_index');
  const classes = wholeNumber(header, 'num_class');
  const treesPerIteration = wholeNumber(header, 'num_tree_per_iteration', classes);
  checkClasses(header.get('objective') ?? '', classes, treesPerIteration);
  return { names, treesPerIteration };
}

/** Checks the number of classes, which a file states up to three times. */
export function checkClasses(objective: string, classes: number, treesPerIteration: number): void {
  if (classes !== treesPerIteration) {
    throw new ModelFileError(`it has ${classes} classes and ${treesPerIteration} trees in an iteration`);
  }
  const [, told] = /^multiclass\w* .*\bnum_class:(\d+)/.exec(objective) ?? [];
  if (told === undefined || Number(told) === classes) return;
  throw new ModelFileError(`it has ${classes} classes, and its objective ${told}`);
}

/** [min:max] is a column of numbers, a:b:c are categories, and none is a column that no tree uses. */
function columnSeen(info: string): ColumnSeen {
  if (info === 'none') return 'nothing';
  return info.startsWith('[') ? 'numbers' : { codes: info.split(':').map(Number) };
}

/** The feature importances after the trees: `name=number` lines below a heading, up to an empty line. */
function importancesOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const from = lines.findIndex((line) => /^feature[ _]importances:$/.test(line)) + 1;
  const to = lines.indexOf('', from);
  const read = lines.slice(from, to < 0 ? undefined : to).map((line): [string, number] => {
    const at = line.lastIndexOf('=');
    return [line.slice(0, at), Number(line.slice(at + 1))];
  });
  if (from > 0 && read.every(([, value]) => isWholeImportance(value))) return new Map(read);
  throw new ModelFileError('it has no `tree_sizes`, and its feature importances are incomplete');
}

/** Checks that the file has its end, as far as its version marks it. */
function noticesOf(lines: readonly string[], isOld: boolean, seen: readonly ColumnSeen[]): FileNotice[] {
  const last = lines.findLast((line) => line.trim() !== '') ?? '';
  const opened = lines.indexOf('parameters:');
  if (opened >= 0 && !lines.includes('end of parameters', opened)) {
    throw new ModelFileError('it is cut short: there is no `end of parameters`', 'copy the file again');
  }
  if (last.startsWith('pandas_categorical:')) return [];
  if (isOld) {
    return [
      {
        message:
          'was written by LightGBM 2.0 or 2.1 and has no `pandas_categorical` line, so nothing marks its end: it may be cut short after its trees',
        help: 'load it in LightGBM 2.2 or later and save it again',
      },
    ];
  }
  if (last !== 'end of parameters') {
    throw new ModelFileError(
      'it is cut short: it ends neither at `end of parameters` nor with a `pandas_categorical` line',
      'copy the file again',
    );
  }
  if (!seen.some((one) => typeof one === 'object')) return [];
  return [
    {
      message:
        'has categories and no `pandas_categorical` line: if Python wrote it, it is cut short, and category columns are read as codes',
      help: 'copy the file again if Python wrote it; files from R and from the command line have no such line',
    },
  ];
}

function toldCategorical(lines: readonly string[]): readonly number[] {
  const line = lines.find((one) => one.startsWith('[categorical_feature:'));
  const [, list] = /^\[categorical_feature: *(\d+(?:,\d+)*)\]$/.exec(line ?? '') ?? [];
  return list?.split(',').map(Number) ?? [];
}

function pandasCategories(lines: readonly string[]): readonly (readonly unknown[])[] {
  const line = lines.findLast((one) => one.startsWith('pandas_categorical:'));
  if (line === undefined) return [];
  try {
    return listOfLists(JSON.parse(line.slice('pandas_categorical:'.length)));
  } catch (error) {
    if (error instanceof SyntaxError) throw new ModelFileError('its `pandas_categorical` is not JSON');
    throw error;
  }
}

/** `pandas_categorical` of both formats: a list of lists, or null. */
export function listOfLists(value: unknown): readonly (readonly unknown[])[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value) && value.every((one) => Array.isArray(one))) return value;
  throw new ModelFileError('its `pandas_categorical` is not a list of lists');
}
