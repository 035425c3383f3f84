import {
  Covers,
  type DecisionTree,
  type FileNotice,
  inTree,
  type LinearLeaf,
  ModelFileError,
  NodeRule,
  type Pieces,
  treeNodes,
} from 'millrace/api';
import { isWholeImportance, SplitCounts } from './importances.js';
import type { ColumnSeen, LightGbmModel } from './model.js';
import { checkClasses, listOfLists } from './read-text.js';

type Json = Readonly<Record<string, unknown>>;

const MISSING: ReadonlyMap<unknown, number> = new Map([
  ['None', NodeRule.none],
  ['Zero', NodeRule.zero],
  ['NaN', NodeRule.nan],
]);

/**
 * Reads the JSON of `Booster.dump_model()`. The format does not count its trees. The numbers of the trees show a gap
 * between trees. The feature importances, since LightGBM 3.0, show any missing tree.
 * @param withCovers whether the trees get their covers, which scores do not need
 * @throws ModelFileError
 */
export function* readJson(content: unknown, withCovers: boolean): Pieces<LightGbmModel> {
  const model = object(content, 'it');
  const treesPerIteration = index(model['num_tree_per_iteration'], '`num_tree_per_iteration`');
  const names = list(model, 'feature_names').map((name) => {
    if (typeof name === 'string') return name;
    throw new ModelFileError('a name of `feature_names` is not a text');
  });
  if (names.length !== number(model, 'max_feature_idx') + 1) {
    throw new ModelFileError('`feature_names` and `max_feature_idx` differ');
  }
  const objective = model['objective'];
  if (objective !== undefined && typeof objective !== 'string') {
    throw new ModelFileError('its `objective` is not a text');
  }
  checkClasses(objective ?? '', index(model['num_class'], '`num_class`'), treesPerIteration);
  const trees: DecisionTree[] = [];
  const splits = new SplitCounts(names);
  const written = list(model, 'tree_info').map((one, index) => object(one, `tree ${index}`));
  // A dump that starts at a later iteration continues its numbering. Its importances cover all trees up to its last.
  const first = written.length === 0 ? 0 : index(written[0]?.['tree_index'], '`tree_index`');
  if (first < 0 || first % treesPerIteration !== 0)
    throw new ModelFileError(`its first \`tree_index\` is ${first}`);
  for (const [position, tree] of written.entries()) {
    yield;
    if (tree['tree_index'] !== first + position) {
      throw new ModelFileError(
        `tree ${position}: its \`tree_index\` is ${shown(tree['tree_index'])} instead of ${first + position}`,
      );
    }
    const { tree: read, gains } = inTree(position, () => {
      const one = readTree(
        object(tree['tree_structure'], 'the tree'),
        position % treesPerIteration,
        withCovers,
      );
      const { length } = one.tree.leaves;
      if (tree['num_leaves'] === length) return one;
      throw new ModelFileError(`\`num_leaves\` is ${shown(tree['num_leaves'])}, and it has ${length}`);
    });
    splits.add(read.feature, gains);
    trees.push(read);
  }
  if (model['feature_importances'] !== undefined && first === 0) {
    splits.check(importancesOf(object(model['feature_importances'], '`feature_importances`'), names));
  }
  const infos = new Map(Object.entries(object(model['feature_infos'] ?? {}, '`feature_infos`')));
  const unknown = [...infos.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new ModelFileError(`\`feature_infos\` names \`${unknown}\`, which is not a feature`);
  return {
    names,
    treesPerIteration,
    objective,
    average: model['average_output'] === true,
    trees,
    seen: names.map((name) => columnSeen(infos.get(name))),
    toldCategorical: [],
    pandasCategories: listOfLists(model['pandas_categorical']),
    notices: first === 0 ? [] : [laterStart(first)],
  };
}

function laterStart(first: number): FileNotice {
  return {
    message: `begins with tree ${first}: the trees before it are missing, as after dump_model(start_iteration=…)`,
    help: 'dump the whole model, unless you left out those trees on purpose',
  };
}

function importancesOf(listed: Json, names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(listed).map(([name, value]): [string, number] => {
      if (isWholeImportance(value) && names.includes(name)) return [name, value];
      throw new ModelFileError('its feature importances do not match its features');
    }),
  );
}

/** A category column lists its values. A column that no tree uses is left out. */
function columnSeen(info: unknown): ColumnSeen {
  if (info === undefined) return 'nothing';
  const { values } = object(info, '`feature_infos`');
  return Array.isArray(values) && values.length > 0
    ? { codes: values.map((one) => index(one, 'a category')) }
    : 'numbers';
}

function readTree(
  root: Json,
  output: number,
  withCovers: boolean,
): { readonly tree: DecisionTree; readonly gains: readonly number[] } {
  const gains: number[] = [];
  const [splitSeen, leafSeen] = [new Set<unknown>(), new Set<unknown>()];
  const leaves: number[] = [];
  const linear: (LinearLeaf | undefined)[] = [];
  const covers = new Covers();
  const nodes = treeNodes(root, (part) => {
    if (part['split_feature'] === undefined) {
      // The only leaf of a tree has no number.
      if (part !== root) numbered(part, 'leaf_index', leafSeen);
      leaves.push(number(part, 'leaf_value'));
      // The only leaf of a tree has no count.
      if (withCovers) covers.leaves.push(part === root ? 1 : part['leaf_count']);
      linear.push(linearLeaf(part));
      return undefined;
    }
    numbered(part, 'split_index', splitSeen);
    if (withCovers) covers.nodes.push(part['internal_count']);
    gains.push(typeof part['split_gain'] === 'number' ? part['split_gain'] : 0);
    const isCategorical = part['decision_type'] === '==';
    return {
      feature: index(part['split_feature'], '`split_feature`'),
      rule: isCategorical ? NodeRule.categorical | NodeRule.nan : numericRule(part),
      threshold: isCategorical ? 0 : unbounded(number(part, 'threshold')),
      categories: isCategorical ? categorySet(part['threshold']) : undefined,
      left: object(part['left_child'], 'a child'),
      right: object(part['right_child'], 'a child'),
    };
  });
  const tree = { ...nodes, output, leaves: Float64Array.from(leaves), ...covers.found() };
  const known = linear.filter((leaf) => leaf !== undefined);
  if (known.length === 0) return { tree, gains };
  if (known.length < leaves.length) throw new ModelFileError('only some leaves are linear');
  return { tree: { ...tree, linear: known }, gains };
}

/** Checks that the number of a node or leaf is unique, so that a duplicate part is found. */
/** A value of the file, for a message. */
function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80);
}

function numbered(part: Json, key: 'split_index' | 'leaf_index', seen: Set<unknown>): void {
  const value = index(part[key], `\`${key}\``);
  if (seen.has(value)) throw new ModelFileError(`\`${key}\` ${value} occurs twice`);
  seen.add(value);
}

function numericRule(part: Json): number {
  const comparison = part['decision_type'];
  if (comparison !== '<=') {
    throw new ModelFileError(`a node has an unknown \`decision_type\`: ${shown(comparison)}`);
  }
  const missing = MISSING.get(part['missing_type']);
  if (missing === undefined) throw new ModelFileError('a node has an unknown `missing_type`');
  if (typeof part['default_left'] !== 'boolean') throw new ModelFileError('a node has no `default_left`');
  return missing | (part['default_left'] && missing !== NodeRule.none ? NodeRule.defaultLeft : 0);
}

/** JSON has no infinity: dump_model writes 1e300 for all larger numbers. */
function unbounded(threshold: number): number {
  return Math.abs(threshold) >= 1e300 ? Math.sign(threshold) * Infinity : threshold;
}

/** `0||3||7`, or one category as a number. */
function categorySet(threshold: unknown): Int32Array {
  if (typeof threshold !== 'number' && typeof threshold !== 'string')
    throw new ModelFileError('a set of categories is missing');
  const set = String(threshold).split('||').map(Number);
  if (!set.every((one) => one >= 0 && (one | 0) === one)) {
    throw new ModelFileError(`${shown(threshold)} is not a set of categories`);
  }
  return Int32Array.from(set).sort();
}

function linearLeaf(part: Json): LinearLeaf | undefined {
  if (part['leaf_const'] === undefined) return undefined;
  const features = list(part, 'leaf_features');
  const coefficients = list(part, 'leaf_coeff');
  if (features.length !== coefficients.length)
    throw new ModelFileError('`leaf_features` and `leaf_coeff` differ in length');
  return {
    constant: number(part, 'leaf_const'),
    features: Int32Array.from(features, (one) => index(one, 'a `leaf_features`')),
    coefficients: Float64Array.from(coefficients, (one) => (typeof one === 'number' ? one : NaN)),
  };
}

function object(value: unknown, what: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new ModelFileError(`${what} is not an object`);
}

function list(of: Json, key: string): readonly unknown[] {
  const value = of[key];
  if (Array.isArray(value)) return value;
  throw new ModelFileError(`\`${key}\` is not a list`);
}

/** An integer that an Int32Array can hold. */
function index(value: unknown, what: string): number {
  if (typeof value === 'number' && (value | 0) === value) return value;
  throw new ModelFileError(`${what} is not a ${typeof value === 'number' ? 'whole ' : ''}number`);
}

function number(of: Json, key: string): number {
  const value = of[key];
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new ModelFileError(`\`${key}\` is not a number`);
}
