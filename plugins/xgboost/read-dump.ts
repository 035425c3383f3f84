import {
  Covers,
  type DecisionTree,
  type FileNotice,
  inTree,
  type ModelColumns,
  ModelFileError,
  NodeRule,
  type Pieces,
  treeNodes,
} from 'millrace/api';
import { asObject, indexesAt, isObject, listAt, MOST_OUTPUTS, type Json } from './json.js';
import { treesOf } from './leaf-vectors.js';
import type { Iterations, Options } from './options.generated.js';

/** The options for what a dump lacks; they have the names of XGBoost's own parameters. */
export const DUMP_OPTIONS = ['base_score', 'objective', 'num_class', 'num_parallel_tree'] as const;
export type DumpOptions = Pick<Options, (typeof DUMP_OPTIONS)[number]>;

export interface Dump {
  readonly trees: readonly DecisionTree[];
  readonly outputs: number;
  readonly columns: ModelColumns;
  readonly notices: readonly FileNotice[];
}

/**
 * Old versions wrote at most this many digits. If enough numbers have no more digits, an old version wrote the file.
 */
const OLD_DIGITS = 6;
const ENOUGH_NUMBERS = 20;

/**
 * Reads the JSON of `dump_model(…, dump_format="json")`, or a list of `get_dump(dump_format="json")`. Nodes are nested
 * objects. A feature has its name, or f0, f1 …. Numbers have nine digits, which are exact for a float32. A dump lacks
 * the number of its trees, the base_score, the objective, and the weights of DART.
 * @throws ModelFileError
 */
export function* readDump(
  list: readonly unknown[],
  given: DumpOptions,
  iterations: Iterations,
  withCovers: boolean,
): Pieces<Dump> {
  const roots: Json[] = [];
  for (const [index, written] of list.entries()) {
    yield;
    roots.push(rootOf(written, index));
  }
  if (roots.length === 0) throw new ModelFileError('it has no trees');
  const names = new Names();
  const numbers = new Digits();
  const reader = new TreeReader(names, numbers, withCovers);
  const size = vectorSize(roots[0] ?? {});
  const outputs = outputsOf(given, size);
  const parallel = given.num_parallel_tree ?? 1;
  const each = size > 1 ? parallel : parallel * outputs;
  if (roots.length % each !== 0) {
    throw new ModelFileError(`it has ${roots.length} trees, ${each} for each iteration`);
  }
  const held = roots.length / each;
  const used = typeof iterations === 'number' ? iterations : held;
  if (used > held) throw new ModelFileError(`it has ${held} iterations, and ${used} are requested`);
  const trees: DecisionTree[] = [];
  for (const [index, root] of roots.entries()) {
    yield;
    const output = Math.floor(index / parallel) % outputs;
    const read = inTree(index, () => reader.read(root, size, output));
    if (index < used * each) trees.push(...read);
  }
  const columns = names.columns();
  return { trees: trees.map((tree) => names.numbered(tree)), outputs, columns, notices: numbers.notices() };
}

/** A tree is an object. In the list of `get_dump` it is a JSON text. */
function rootOf(written: unknown, index: number): Json {
  let value = written;
  if (typeof value === 'string') {
    try {
      value = JSON.parse(value);
    } catch (error) {
      throw new ModelFileError(
        `tree ${index} is not JSON: ${error instanceof Error ? error.message : String(error)}`,
        'give get_dump the option dump_format="json"',
      );
    }
  }
  if (isObject(value) && 'bias' in value) {
    throw new ModelFileError(
      'it is a dump of gblinear, whose numbers have six digits',
      'save the model: booster.save_model("model.json")',
    );
  }
  if (isObject(value) && 'nodeid' in value) return value;
  throw new ModelFileError(`tree ${index} is not a tree of a dump: it has no \`nodeid\``);
}

/** The number of elements of each leaf. Leaves are vectors with `multi_strategy: multi_output_tree`. */
function vectorSize(root: Json): number {
  let node = root;
  while (node['leaf'] === undefined) node = asObject(listAt(node, 'children')[0]);
  return Array.isArray(node['leaf']) ? node['leaf'].length : 1;
}

function outputsOf({ num_class: classes }: DumpOptions, size: number): number {
  if (size > MOST_OUTPUTS) throw new ModelFileError(`its leaves have ${size} elements`);
  if (size === 1) return Math.max(1, classes ?? 1);
  if (classes === undefined || classes === size) return size;
  throw new ModelFileError(`its leaves have ${size} elements, and \`num_class\` is ${classes}`);
}

/** Numbers features by name, in the order in which trees use them. */
class Names {
  readonly #numbers = new Map<string, number>();

  of(name: string): number {
    const number = this.#numbers.get(name) ?? this.#numbers.size;
    this.#numbers.set(name, number);
    return number;
  }

  /** The columns. If training had no names, they are known up to the last column that a tree uses. */
  columns(): ModelColumns {
    const last = this.#last();
    if (last === undefined) return { names: [...this.#numbers.keys()], unnamed: false };
    return { names: Array.from({ length: last + 1 }, (_, i) => `f${i}`), unnamed: true };
  }

  /** The tree with the numbers of the columns as features. */
  numbered(tree: DecisionTree): DecisionTree {
    if (this.#last() === undefined) return tree;
    const names = [...this.#numbers.keys()];
    return { ...tree, feature: tree.feature.map((number) => Number(names[number]?.slice(1))) };
  }

  #last(): number | undefined {
    let last = -1;
    for (const name of this.#numbers.keys()) {
      if (!/^f(0|[1-9]\d{0,5})$/.test(name)) return undefined;
      last = Math.max(last, Number(name.slice(1)));
    }
    return last;
  }
}

/** Checks whether numbers are as exact as those of later versions. */
class Digits {
  #numbers = 0;
  #exact = false;

  note(value: number): void {
    this.#numbers++;
    this.#exact ||= Number(value.toPrecision(OLD_DIGITS)) !== value;
  }

  notices(): FileNotice[] {
    if (this.#exact || this.#numbers < ENOUGH_NUMBERS) return [];
    return [
      {
        message: `has numbers of at most ${OLD_DIGITS} digits, as in dumps of old XGBoost versions: scores differ from those of the model`,
        help: 'dump the model with a later XGBoost, or save it with save_model',
      },
    ];
  }
}

class TreeReader {
  constructor(
    readonly names: Names,
    readonly digits: Digits,
    readonly withCovers: boolean,
  ) {}

  /** @returns one tree, or one for each element of leaves that are vectors */
  read(root: Json, size: number, output: number): DecisionTree[] {
    const leaves = Array.from({ length: size }, () => [] as number[]);
    const seen = new Set<number>();
    const covers = new Covers();
    const nodes = treeNodes(root, (part, depth) => {
      const id = idAt(part, 'nodeid');
      if (seen.has(id)) throw new ModelFileError(`node ${id} occurs twice`);
      seen.add(id);
      // A dump has covers if it was written with_stats.
      if (this.withCovers) (part['leaf'] === undefined ? covers.nodes : covers.leaves).push(part['cover']);
      if (part['leaf'] !== undefined) {
        if ('children' in part) throw new ModelFileError(`node ${id} is a leaf and has children`);
        for (const [i, value] of this.#leaf(part, size).entries()) leaves[i]?.push(value);
        return undefined;
      }
      if (part['depth'] !== depth)
        throw new ModelFileError(`node ${id} is at depth ${depth}, and its \`depth\` differs`);
      const feature = this.names.of(splitName(part, id));
      // A number below the threshold, or a category of the set, goes to `yes`.
      const { yes: left, no: right, missing } = childrenOf(part, id);
      const rule = NodeRule.nan | (missing === 'yes' ? NodeRule.defaultLeft : 0);
      if (!Array.isArray(part['split_condition'])) {
        const threshold = this.#number(part['split_condition'], 'split_condition');
        return { feature, rule, threshold, left, right };
      }
      const categories = Int32Array.from(indexesAt(part, 'split_condition')).sort();
      return { feature, rule: rule | NodeRule.categorical, threshold: 0, categories, left, right };
    });
    return treesOf(nodes, leaves, output, covers);
  }

  #leaf(part: Json, size: number): number[] {
    const written: readonly unknown[] = Array.isArray(part['leaf']) ? part['leaf'] : [part['leaf']];
    if (written.length === size) return written.map((value) => this.#number(value, 'leaf'));
    throw new ModelFileError(`a leaf has ${written.length} elements instead of ${size}`);
  }

  #number(value: unknown, key: string): number {
    if (typeof value !== 'number') throw new ModelFileError(`\`${key}\` is not a number`);
    this.digits.note(value);
    return Math.fround(value);
  }
}

function splitName(part: Json, id: number): string {
  const name = part['split'];
  if (typeof name !== 'string') throw new ModelFileError(`node ${id} has neither \`split\` nor \`leaf\``);
  if (part['split_condition'] === undefined) {
    throw new ModelFileError(
      `node ${id} splits by \`${name}\` without a threshold, because its feature map declares an indicator`,
      'dump without a feature map, or with the type q for that feature',
    );
  }
  return name;
}

/** The two children, and where missing values go. */
function childrenOf(part: Json, id: number): { yes: Json; no: Json; missing: 'yes' | 'no' } {
  const children = Array.from(listAt(part, 'children'), asObject);
  const [yes, no, missing] = [idAt(part, 'yes'), idAt(part, 'no'), idAt(part, 'missing')];
  const found = new Map(children.map((child) => [idAt(child, 'nodeid'), child]));
  const [toYes, toNo] = [found.get(yes), found.get(no)];
  if (children.length !== 2 || toYes === undefined || toNo === undefined || yes === no) {
    throw new ModelFileError(`the children of node ${id} are not ${yes} and ${no}`);
  }
  if (missing !== yes && missing !== no)
    throw new ModelFileError(`node ${id} sends missing values to ${missing}`);
  return { yes: toYes, no: toNo, missing: missing === yes ? 'yes' : 'no' };
}

function idAt(part: Json, key: string): number {
  const value = part[key];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new ModelFileError(`\`${key}\` is not the number of a node`);
}
