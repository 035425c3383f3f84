import type { DecisionTree, TreeEnsemble } from '../../ground/api/tree-ensemble.js';
import { goesLeft } from './interpreter.js';

/** Whose value of a feature the path to a leaf needs. */
const [ANY, ROW, REFERENCE] = [0, 1, 2];

/**
 * The Shapley values of the difference between the sums of two rows, where a set of features has its values from the row
 * and the others from the reference: interventional TreeSHAP with one reference (Lundberg et al. 2020, "From local
 * explanations to global understanding with explainable AI for trees"). A leaf counts if each feature of its path comes
 * from the row that passes its tests. With a features of the row and b of the reference, it gives each of the a features
 * v · (a − 1)! b! / (a + b)!, and takes v · a! (b − 1)! / (a + b)! from each of the b.
 */
export class PairContributions {
  readonly #ensemble: TreeEnsemble;
  readonly #output: number;
  readonly #row: Float64Array;
  readonly #reference: Float64Array;
  readonly #to: Float64Array;
  readonly #sides: Uint8Array;
  /** What the leaves below give to each feature of the row, and take from each of the reference. */
  #given = 0;
  #taken = 0;

  /** @param to by feature: the contributions are added */
  constructor(
    ensemble: TreeEnsemble,
    row: Float64Array,
    reference: Float64Array,
    output: number,
    to: Float64Array,
  ) {
    this.#ensemble = ensemble;
    this.#output = output;
    this.#row = row;
    this.#reference = reference;
    this.#to = to;
    this.#sides = new Uint8Array(ensemble.features);
  }

  *add(): Generator<undefined, void> {
    for (const tree of this.#ensemble.trees) {
      if (tree.output !== this.#output) continue;
      this.#walk(tree, tree.feature.length === 0 ? ~0 : 0, 0, 0);
      yield;
    }
  }

  /** Calls itself only where the rows part at a new feature. */
  #walk(tree: DecisionTree, start: number, a: number, b: number): void {
    const sides = this.#sides;
    const to = this.#to;
    let at = start;
    while (at >= 0) {
      const feature = tree.feature[at] as number;
      const side = sides[feature] as number;
      const own = side === REFERENCE ? NaN : this.#next(tree, at, this.#row);
      const other = side === ROW ? own : this.#next(tree, at, this.#reference);
      if (side === REFERENCE || own === other) {
        at = other;
        continue;
      }
      sides[feature] = ROW;
      this.#walk(tree, own, a + 1, b);
      const given = this.#given;
      const taken = this.#taken;
      sides[feature] = REFERENCE;
      this.#walk(tree, other, a, b + 1);
      sides[feature] = ANY;
      to[feature] = (to[feature] as number) + given - this.#taken;
      this.#given += given;
      this.#taken += taken;
      return;
    }
    this.#given = 0;
    this.#taken = 0;
    this.#addLeaf(tree, ~at, a, b);
  }

  #next(tree: DecisionTree, node: number, row: Float64Array): number {
    return (goesLeft(tree, node, this.#ensemble, row) ? tree.left[node] : tree.right[node]) as number;
  }

  #addLeaf(tree: DecisionTree, leaf: number, a: number, b: number): void {
    const constant = tree.leaves[leaf] ?? NaN;
    const linear = tree.linear?.[leaf];
    this.#share(constant, a, b);
    if (linear === undefined) return;
    // The linear function replaces the constant where all its features are known: another leaf with a longer path.
    const [fromRow, fromReference] = [new Set<number>(), new Set<number>()];
    const differing: { readonly feature: number; readonly change: number }[] = [];
    let sum = linear.constant;
    for (const [i, feature] of linear.features.entries()) {
      const coefficient = linear.coefficients[i] ?? NaN;
      const [own, other] = [this.#row[feature] ?? NaN, this.#reference[feature] ?? NaN];
      const side = this.#sides[feature];
      const [ownKnown, otherKnown] = [!Number.isNaN(own), !Number.isNaN(other)];
      const value = side === ROW || (side === ANY && !otherKnown) ? own : other;
      if (Number.isNaN(value)) return;
      sum += coefficient * value;
      if (side !== ANY) continue;
      if (!otherKnown) fromRow.add(feature);
      else if (!ownKnown) fromReference.add(feature);
      else if (own !== other) differing.push({ feature, change: coefficient * (own - other) });
    }
    this.#share(sum - constant, a, b, fromRow, fromReference);
    for (const { feature, change } of differing)
      this.#share(change, a, b, new Set([...fromRow, feature]), fromReference);
  }

  /** Divides a value among the features of the path, and those that count besides. */
  #share(value: number, a: number, b: number, more?: ReadonlySet<number>, fewer?: ReadonlySet<number>): void {
    const given = a + (more?.size ?? 0);
    const taken = b + (fewer?.size ?? 0);
    const gives = given === 0 ? 0 : value * weightOf(given - 1, taken);
    const takes = taken === 0 ? 0 : value * weightOf(given, taken - 1);
    this.#given += gives;
    this.#taken += takes;
    for (const feature of more ?? []) this.#to[feature] = (this.#to[feature] ?? 0) + gives;
    for (const feature of fewer ?? []) this.#to[feature] = (this.#to[feature] ?? 0) - takes;
  }
}

const KEPT = 64;
const kept = new Float64Array(KEPT * KEPT);

/** a! b! / (a + b + 1)! */
function weightOf(a: number, b: number): number {
  const cell = a < KEPT && b < KEPT ? a * KEPT + b : -1;
  let weight = kept[cell] ?? 0;
  if (weight !== 0) return weight;
  weight = 1 / (a + b + 1);
  for (let k = 1; k <= a; k++) weight *= k / (b + k);
  if (cell >= 0) kept[cell] = weight;
  return weight;
}
