import type { Pieces } from '../../runtime/api/pieces.js';
import { NodeRule, type DecisionTree, type LinearLeaf } from '../../runtime/api/tree-ensemble.js';
import { ModelFileError, type ColumnSeen, type LightGbmModel } from './model.js';
import { bitSet, ruleOf } from './tree-fields.js';

type Fields = ReadonlyMap<string, string>;

/**
 * Reads the text that `save_model` writes (LightGBM 2 to 4): a header of `key=value` lines, a block per tree, and
 * after `end of trees` what training knew, of which only `pandas_categorical` matters.
 * @throws ModelFileError
 */
export function* readText(text: string): Pieces<LightGbmModel> {
  const lines = text.split(/\r?\n/);
  if (lines[0]?.trim() !== 'tree') throw new ModelFileError('it does not begin like a LightGBM model');
  const end = lines.indexOf('end of trees');
  if (end < 0) throw new ModelFileError('it is cut short: there is no `end of trees`');
  const starts = [...lines.keys()].filter((line) => line < end && lines[line]?.startsWith('Tree=') === true);
  const header = fieldsOf(lines.slice(1, starts[0] ?? end));
  const treesPerIteration = wholeNumber(
    header,
    'num_tree_per_iteration',
    wholeNumber(header, 'num_class', 1),
  );
  const names = words(header.get('feature_names') ?? '');
  const features = wholeNumber(header, 'max_feature_idx') + 1;
  if (names.length !== features) {
    throw new ModelFileError(`it has ${features} features and ${names.length} names of features`);
  }
  const trees: DecisionTree[] = [];
  for (const [index, start] of starts.entries()) {
    yield;
    const fields = fieldsOf(lines.slice(start + 1, starts[index + 1] ?? end));
    try {
      trees.push(readTree(fields, index % treesPerIteration));
    } catch (error) {
      if (!(error instanceof ModelFileError)) throw error;
      throw new ModelFileError(`tree ${index}: ${error.message}`);
    }
  }
  const infos = words(header.get('feature_infos') ?? '');
  const trailer = lines.slice(end);
  return {
    names,
    treesPerIteration,
    objective: header.get('objective') ?? '',
    average: header.has('average_output'),
    trees,
    seen: names.map((_, column) => columnSeen(infos[column] ?? '[')),
    toldCategorical: toldCategorical(trailer),
    pandasCategories: pandasCategories(trailer),
  };
}

/** `key=value` lines; a line without `=` is a key alone. */
function fieldsOf(lines: readonly string[]): Fields {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const at = line.indexOf('=');
    if (at >= 0) fields.set(line.slice(0, at), line.slice(at + 1));
    else if (line.trim() !== '') fields.set(line.trim(), '');
  }
  return fields;
}

function readTree(fields: Fields, output: number): DecisionTree {
  const leafCount = wholeNumber(fields, 'num_leaves');
  if (leafCount === 0) throw new ModelFileError('it has no leaves');
  const nodes = leafCount - 1;
  const feature = Int32Array.from(nodes === 0 ? [] : indexes(fields, 'split_feature', nodes));
  const written = nodes === 0 ? [] : numbers(fields, 'threshold', nodes);
  const rule = Uint8Array.from(
    nodes === 0 ? [] : numbers(fields, 'decision_type', nodes, new Array<number>(nodes).fill(0)),
    ruleOf,
  );
  const hasCategories = wholeNumber(fields, 'num_cat', 0) > 0;
  const boundaries = hasCategories ? indexes(fields, 'cat_boundaries') : [];
  const bits = hasCategories ? numbers(fields, 'cat_threshold') : [];
  const threshold = new Float64Array(nodes);
  const categories = written.map((value, node) => {
    if (((rule[node] ?? 0) & NodeRule.categorical) === 0) {
      threshold[node] = value;
      return undefined;
    }
    const [from, to] = [boundaries[value], boundaries[value + 1]];
    if (from === undefined || to === undefined || from < 0 || to < from || to > bits.length)
      throw new ModelFileError('a set of categories is missing');
    return bitSet(bits.slice(from, to));
  });
  const tree = {
    output,
    feature,
    rule,
    threshold,
    categories,
    left: Int32Array.from(nodes === 0 ? [] : indexes(fields, 'left_child', nodes)),
    right: Int32Array.from(nodes === 0 ? [] : indexes(fields, 'right_child', nodes)),
    leaves: Float64Array.from(numbers(fields, 'leaf_value', leafCount)),
  };
  return fields.get('is_linear') === '1' ? { ...tree, linear: linearLeaves(fields, leafCount) } : tree;
}

function linearLeaves(fields: Fields, count: number): LinearLeaf[] {
  const constants = numbers(fields, 'leaf_const', count);
  const sizes = indexes(fields, 'num_features', count);
  const features = indexes(fields, 'leaf_features');
  const coefficients = numbers(fields, 'leaf_coeff');
  let at = 0;
  return sizes.map((size, leaf) => {
    const [from, to] = [at, (at += size)];
    if (size < 0 || to > features.length || to > coefficients.length)
      throw new ModelFileError('`leaf_coeff` is too short');
    return {
      constant: constants[leaf] ?? 0,
      features: Int32Array.from(features.slice(from, to)),
      coefficients: Float64Array.from(coefficients.slice(from, to)),
    };
  });
}

/** [min:max] is a number's, a:b:c are categories, none is a feature that was of no use. */
function columnSeen(info: string): ColumnSeen {
  if (info === 'none') return 'nothing';
  return info.startsWith('[') ? 'numbers' : { codes: info.split(':').map(Number) };
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

/** Names may hold white space that is not ASCII. */
function words(text: string): string[] {
  return text.split(/[ \t]+/).filter((word) => word !== '');
}

function wholeNumber(fields: Fields, key: string, otherwise?: number): number {
  const text = fields.get(key);
  const value = text === undefined ? otherwise : Number(text);
  if (value !== undefined && Number.isInteger(value) && value >= 0) return value;
  throw new ModelFileError(`\`${key}\` is ${text === undefined ? 'missing' : 'not a number'}`);
}

function numbers(fields: Fields, key: string, count?: number, otherwise?: number[]): number[] {
  const text = fields.get(key);
  if (text === undefined) {
    if (otherwise !== undefined) return otherwise;
    throw new ModelFileError(`\`${key}\` is missing`);
  }
  const read = words(text).map((word) => numberOf(word, key));
  if (count === undefined || read.length === count) return read;
  throw new ModelFileError(`\`${key}\` has ${read.length} numbers instead of ${count}`);
}

/** Whole numbers that fit an Int32Array as they are. */
function indexes(fields: Fields, key: string, count?: number): number[] {
  const read = numbers(fields, key, count);
  const wrong = read.find((value) => (value | 0) !== value);
  if (wrong === undefined) return read;
  throw new ModelFileError(`\`${key}\` holds ${wrong}`);
}

/** LightGBM writes infinities as C does. */
const INFINITIES: ReadonlyMap<string, number> = new Map([
  ['inf', Infinity],
  ['infinity', Infinity],
  ['-inf', -Infinity],
  ['-infinity', -Infinity],
]);

function numberOf(word: string, key: string): number {
  const number = Number(word);
  const value = Number.isNaN(number) ? INFINITIES.get(word.toLowerCase()) : number;
  if (value === undefined) throw new ModelFileError(`\`${key}\` holds ${JSON.stringify(word)}`);
  return value;
}
