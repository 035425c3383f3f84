import { lightGbmText } from '../../../bench/support/lightgbm-text.js';
import type { DecisionTree, TreeEnsemble } from '../../../runtime/ground/api/tree-ensemble.js';
import { interpret } from '../../../runtime/language/trees/interpreter.js';
import { NodeRule } from '../../../runtime/ground/api/tree-ensemble.js';
import { randomEnsemble, randomNumbers } from '../../support/random-ensemble.js';

export const FEATURES = 40;
export const ITEMS = 200;

/** Added to every score of a model, times its number: tells which model a score is of. */
const STEP = 1000;
const KINDS = 2;

/** Items, and models of known scores for them: by number, two kinds of trees in turn. */
export class KnownModels {
  readonly #kinds: readonly TreeEnsemble[];
  /** By kind, then item: the sum of the trees but the last. */
  readonly #sums: readonly (readonly number[])[];
  readonly items: readonly (readonly number[])[];

  constructor(trees: number, leaves: number) {
    const random = randomNumbers(7);
    this.items = Array.from({ length: ITEMS }, () =>
      Array.from({ length: FEATURES }, () => random() * 4 - 2),
    );
    this.#kinds = Array.from({ length: KINDS }, (_, kind) => ({
      ...randomEnsemble(kind + 1, {
        trees,
        leaves,
        features: FEATURES,
        thresholds: 200,
        precision: 'float64',
        comparison: 'less_or_equal',
        rules: [NodeRule.nan, NodeRule.nan | NodeRule.defaultLeft],
      }),
      base: [0],
    }));
    this.#sums = this.#kinds.map((kind) => this.items.map((item) => interpret(kind, item)[0] ?? NaN));
  }

  /** The file of a model; its last tree is one leaf. */
  text(number: number): string {
    const kind = this.#kinds[number % KINDS];
    if (kind === undefined) throw new Error('there is a model of each kind');
    const trees = [...kind.trees, leaf(number * STEP)];
    const names = Array.from({ length: FEATURES }, (_, i) => `item__f${i}`);
    return lightGbmText({ ...kind, trees }, names);
  }

  score(number: number, item: number): number {
    return (this.#sums[number % KINDS]?.[item] ?? NaN) + number * STEP;
  }

  /** The model that a score is of, if it is exactly that model's score of the item. */
  numberOf(score: number, item: number): number | undefined {
    const number = Math.round(score / STEP);
    return this.score(number, item) === score ? number : undefined;
  }
}

function leaf(value: number): DecisionTree {
  return {
    output: 0,
    feature: new Int32Array(0),
    rule: new Uint8Array(0),
    threshold: new Float64Array(0),
    categories: [],
    left: new Int32Array(0),
    right: new Int32Array(0),
    leaves: Float64Array.of(value),
  };
}
