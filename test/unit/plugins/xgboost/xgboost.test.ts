import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { readBooster } from '../../../../plugins/xgboost/booster.js';
import type { Booster } from '../../../../plugins/xgboost/model.js';
import { plugin } from '../../../../plugins/xgboost/index.js';
import type { Iterations, Predict } from '../../../../plugins/xgboost/options.generated.js';
import type { DumpOptions } from '../../../../plugins/xgboost/read-dump.js';
import { readUbjson } from '../../../../plugins/xgboost/read-ubjson.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import type { ModelComponent } from '../../../../runtime/ground/api/component.js';
import type { TreeEnsemble } from '../../../../runtime/ground/api/tree-ensemble.js';
import { checkEnsemble } from '../../../../runtime/language/trees/check-ensemble.js';
import { interpret } from '../../../../runtime/language/trees/interpreter.js';
import { createComponent } from '../../../support/create-component.js';
import { repositoryPath } from '../../../support/repository.js';
import { absent, compute, FakeStep, projectFile } from '../../../support/step-input.js';
import { writeUbjson } from './ubjson.js';

interface ModelShape {
  readonly trees?: readonly object[];
  readonly groups?: readonly number[];
  readonly objective?: string;
  readonly base?: unknown;
  readonly classes?: number;
  readonly features?: number;
  readonly names?: readonly string[];
  readonly attributes?: object;
  readonly model?: object;
  readonly booster?: (model: object) => object;
}

function model(shape: ModelShape): object {
  const trees = shape.trees ?? [stump({})];
  const content = {
    gbtree_model_param: { num_parallel_tree: '1', num_trees: String(trees.length) },
    tree_info: shape.groups ?? trees.map(() => 0),
    trees,
    ...shape.model,
  };
  return {
    learner: {
      attributes: shape.attributes ?? {},
      feature_names: shape.names ?? [],
      gradient_booster: shape.booster?.(content) ?? { name: 'gbtree', model: content },
      learner_model_param: {
        base_score: shape.base ?? '0',
        num_class: String(shape.classes ?? 0),
        num_feature: String(shape.features ?? 1),
      },
      objective: { name: shape.objective ?? 'reg:squarederror' },
    },
    version: [3, 1, 1],
  };
}

/** The base_score with which the sum of an objective starts at 0, if it is not 0.5. */
const BASES: ReadonlyMap<string, string> = new Map([
  ['count:poisson', '1'],
  ['binary:logitraw', '0'],
]);

/** One node on feature 0: leaves 10 left, 20 right. */
const stump = (more: object): object => ({
  default_left: [0, 0, 0],
  left_children: [1, -1, -1],
  right_children: [2, -1, -1],
  split_conditions: [0.5, 10, 20],
  split_indices: [0, 0, 0],
  tree_param: { num_nodes: '3', size_leaf_vector: '1' },
  ...more,
});

/** Fields of a stump: category 1 goes right. */
const CATEGORICAL = {
  split_type: [1, 0, 0],
  categories: [1],
  categories_nodes: [0],
  categories_segments: [0],
  categories_sizes: [1],
};

const leaf = (value: number): object => ({
  default_left: [0],
  left_children: [-1],
  right_children: [-1],
  split_conditions: [value],
  split_indices: [0],
  tree_param: { num_nodes: '1' },
});

function score(
  content: object,
  rows: readonly (readonly number[])[],
  predict: Predict = 'raw',
  iterations: Iterations = 'best',
): number[][] {
  const {
    scored,
    transform,
    outputs: count,
  } = readBooster(Buffer.from(JSON.stringify(content)), predict, iterations);
  return rows.map((row) => {
    const outputs = Array.from({ length: count }, () => new Float64Array(1));
    if ('linear' in scored) {
      const columns = row.map((value) => ({ values: Float64Array.of(value), stride: 1 as const }));
      scored.linear.score(Int32Array.of(0), columns, outputs);
    } else for (const [i, sum] of interpret(scored.ensemble, row).entries()) outputs[i]?.fill(sum);
    transform?.(outputs, Int32Array.of(0));
    return outputs.map((values) => values[0] ?? NaN);
  });
}

const leaves = (content: object, ...values: readonly number[]): number[] =>
  score(
    content,
    values.map((value) => [value]),
  ).flat();

describe('xgboost', () => {
  it('goes left below the threshold, compared in float32, and sends NaN the default way', () => {
    const third = model({ trees: [stump({ split_conditions: [0.1, 10, 20] })] });
    const below = Math.fround(0.1) - 2 ** -28;
    expect(leaves(third, 0.1, below, 0.1 - 1e-10, NaN)).to.deep.equal([20, 10, 20, 20]);
    expect(leaves(model({ trees: [stump({ default_left: [1, 0, 0] })] }), NaN)).to.deep.equal([10]);
    expect(leaves(model({ trees: [stump({ default_left: [true, false, false] })] }), NaN)).to.deep.equal([
      10,
    ]);
  });

  it('sends the categories of a node right, unknown and negative ones left', () => {
    const categorical = stump({
      split_type: [1, 0, 0],
      categories: [1, 3],
      categories_nodes: [0],
      categories_segments: [0],
      categories_sizes: [2],
    });
    const content = model({ trees: [categorical] });
    expect(leaves(content, 1, 3, 3.7, 7, 0, 99, -0.5, -3, NaN)).to.deep.equal([
      20, 20, 20, 10, 10, 10, 10, 10, 20,
    ]);
  });

  it('reads leaves that are vectors, in the forms of versions 2 and 3', () => {
    const tree_param = { num_nodes: '3', size_leaf_vector: '2' };
    const shape = { classes: 2, objective: 'multi:softprob', groups: [0] };
    const numbered = { right_children: [2, 0, 1], leaf_weights: [10, 11, 20, 21] };
    for (const weights of [{ base_weights: [0, 0, 10, 11, 20, 21] }, numbered]) {
      const content = model({ ...shape, trees: [stump({ tree_param, ...weights })] });
      expect(score(content, [[0], [1], [NaN]])).to.deep.equal([
        [10, 11],
        [20, 21],
        [20, 21],
      ]);
    }
    const short = model({
      ...shape,
      trees: [stump({ tree_param, ...numbered, leaf_weights: [10, 11, 20] })],
    });
    expect(() => score(short, [[1]])).to.throw('tree 0: a leaf has no weights');
  });

  it('reads base_score in every spelling, and computes the start value of the sum', () => {
    const start = (base: unknown, objective: string): number | undefined =>
      score(model({ base, objective, trees: [leaf(0)] }), [[0]])[0]?.[0];
    for (const base of [0.25, '0.25', '2.5E-1', '[2.5E-1]', ['2.5E-1']])
      expect(start(base, 'reg:squarederror'), JSON.stringify(base)).to.equal(0.25);
    expect(start('[5E-1]', 'binary:logistic')).to.equal(0);
    expect(start('0.25', 'reg:logistic')).to.equal(Math.fround(-Math.log(3)));
    expect(start('0.25', 'binary:logitraw')).to.equal(0.25);
    expect(start('[0E0]', 'binary:logistic')).to.be.closeTo(-13.81551, 1e-5);
    expect(start('[1E0]', 'binary:logistic')).to.be.closeTo(13.74516, 1e-5);
    for (const objective of ['count:poisson', 'reg:gamma', 'reg:tweedie', 'survival:cox'])
      expect(start('2', objective)).to.equal(Math.fround(Math.log(2)));
    for (const objective of ['rank:ndcg', 'rank:pairwise', 'rank:map', 'reg:absoluteerror'])
      expect(start('[5E-1]', objective)).to.equal(0.5);
    const classes = model({
      base: '[1E-1,2E-1,7E-1]',
      classes: 3,
      objective: 'multi:softprob',
      trees: [leaf(1), leaf(2), leaf(3)],
      groups: [0, 1, 2],
    });
    expect(score(classes, [[0]])).to.deep.equal([[1.1, 2.2, 3.7].map(Math.fround)]);
  });

  it('adds in float32, in the order of the trees', () => {
    const trees = [1e8, 1, 1, 1, -1e8].map(leaf);
    expect(score(model({ trees }), [[0]])).to.deep.equal([[0]]);
  });

  it('applies the tree weights of DART', () => {
    const booster = (content: object): object => ({
      name: 'dart',
      gbtree: { name: 'gbtree', model: content },
      weight_drop: [0.5, 2],
    });
    expect(score(model({ trees: [leaf(3), leaf(5)], booster }), [[0]])).to.deep.equal([[11.5]]);
  });

  it('supports gblinear, in which a missing feature adds nothing', () => {
    const booster = (): object => ({ name: 'gblinear', model: { weights: [2, 3, 0.5] } });
    const content = model({ features: 2, booster, base: '1' });
    const rows = [
      [10, 100],
      [NaN, 100],
    ];
    expect(score(content, rows)).to.deep.equal([[321.5], [301.5]]);
  });

  it('starts every output of gblinear at the first base_score, as XGBoost 3.1 and 3.2 do', () => {
    const booster = (): object => ({ name: 'gblinear', model: { weights: [2, 3, 0.5, 0.25] } });
    const content = model({ classes: 2, objective: 'multi:softprob', booster, base: '[1E0,5E0]' });
    expect(score(content, [[10]])).to.deep.equal([[21.5, 31.25]]);
  });

  describe('a file with contradicting counts', () => {
    const vector = { num_nodes: '3', size_leaf_vector: '2' };
    const changed: readonly (readonly [what: string, content: object, message: string])[] = [
      [
        'in the number of trees',
        model({ model: { gbtree_model_param: { num_trees: '2' } } }),
        '`num_trees` is 2, and it has 1 trees',
      ],
      [
        'in the iterations',
        model({ model: { iteration_indptr: [0, 1, 2] } }),
        '`iteration_indptr` does not ascend from 0 to 1',
      ],
      [
        'in the iterations, without saying where they start',
        model({ trees: [leaf(1), leaf(2), leaf(3)], classes: 2 }),
        'it has 3 trees, 2 for each iteration',
      ],
      [
        'in the nodes',
        model({ trees: [stump({ tree_param: { num_nodes: '5' } })] }),
        '`num_nodes` is 5, and it has 3 nodes',
      ],
      [
        'in the features of a tree',
        model({ trees: [stump({ tree_param: { num_feature: '4' } })] }),
        'it has 4 features, and the model 1',
      ],
      ['in the number of a tree', model({ trees: [stump({ id: 1 })] }), 'tree 0: its `id` is 1'],
      [
        'in a list that no score depends on',
        model({ trees: [stump({ parents: [0] })] }),
        '`parents` has 1 numbers instead of 3',
      ],
      [
        'in the leaves that are vectors',
        model({ classes: 2, trees: [stump({ tree_param: vector, base_weights: [1, 2] })] }),
        '`base_weights` has 2 numbers instead of 6',
      ],
      [
        'in the categories',
        model({ trees: [stump({ ...CATEGORICAL, categories: [1, 2] })] }),
        '`categories` has 2 numbers instead of 1',
      ],
      [
        'in the types of features',
        { learner: { ...(model({}) as { learner: object }).learner, feature_types: ['float', 'float'] } },
        'it has 1 features and 2 types of features',
      ],
    ];
    for (const [what, content, message] of changed)
      it(`is refused: ${what}`, () => {
        expect(() => score(content, [[0]])).to.throw(message);
      });

    it('is refused as UBJSON with data after its end, or with a duplicate name', () => {
      const binary = writeUbjson(model({}));
      expect(() => readUbjson(Buffer.concat([binary, Buffer.from('}')]))).to.throw(
        `ends at byte ${binary.length} of`,
      );
      expect(() => readUbjson(Buffer.from('{i\x01aTi\x01aF}', 'latin1'))).to.throw('has `a` twice');
    });
  });

  describe('the JSON of a dump', () => {
    const node = (more: object = {}): object => ({
      nodeid: 0,
      depth: 0,
      split: 'price',
      split_condition: 0.100000001,
      yes: 1,
      no: 2,
      missing: 2,
      children: [
        { nodeid: 1, leaf: 10, cover: 3 },
        { nodeid: 2, leaf: 20 },
      ],
      ...more,
    });
    const read = (
      trees: readonly unknown[],
      told: DumpOptions = {},
      predict: Predict = 'raw',
      iterations: Iterations = 'best',
    ): Booster => readBooster(Buffer.from(JSON.stringify(trees)), predict, iterations, told);
    const sums = (booster: Booster, ...values: readonly number[]): number[] =>
      'ensemble' in booster.scored ? interpret(booster.scored.ensemble, values) : expect.fail('it is linear');

    it('binds features by name, and sends a category of the set and a number below the threshold to `yes`', () => {
      const set = node({ split: 'kind', split_condition: [1, 3], yes: 2, no: 1, missing: 1 });
      const booster = read([node(), JSON.stringify(set)]);
      expect(booster.columns).to.deep.equal({ names: ['price', 'kind'], unnamed: false });
      expect(sums(booster, 0.1 - 2 ** -28, 1)).to.deep.equal([30]);
      expect(sums(booster, 0.1, 2)).to.deep.equal([30]);
      expect(sums(booster, NaN, NaN)).to.deep.equal([30]);
      expect(sums(booster, 0.2, 3)).to.deep.equal([40]);
    });

    it('has columns up to the last one used, if features have no names', () => {
      const booster = read([node({ split: 'f2' }), node({ split: 'f0' })]);
      expect(booster.columns).to.deep.equal({ names: ['f0', 'f1', 'f2'], unnamed: true });
      expect(sums(booster, 0, 5, 1)).to.deep.equal([30]);
    });

    it('starts at the given base_score, and predicts with the objective', () => {
      const told = { objective: 'binary:logistic', base_score: 0.25 };
      expect(sums(read([node()], told), 0)).to.deep.equal([Math.fround(10 - Math.log(3))]);
      expect(read([node()], told, 'objective').transform).to.be.a('function');
      expect(sums(read([node()]), 0)).to.deep.equal([10]);
    });

    it('assigns trees to classes, several at a time', () => {
      const trees = [1, 2, 4, 8].map((leaf) => ({ nodeid: 0, leaf }));
      expect(sums(read(trees, { num_class: 2 }))).to.deep.equal([5, 10]);
      expect(sums(read(trees, { num_class: 2, num_parallel_tree: 2 }))).to.deep.equal([3, 12]);
      expect(sums(read(trees, { num_class: 2 }, 'raw', 1))).to.deep.equal([1, 2]);
      expect(sums(read([{ nodeid: 0, leaf: [1, 5] }]))).to.deep.equal([1, 5]);
    });

    const options: readonly (readonly [
      what: string,
      read: () => unknown,
      option: string,
      message: string,
    ])[] = [
      [
        'predict: objective without an objective',
        () => read([node()], { base_score: 0.5 }, 'objective'),
        'predict',
        'needs `objective`',
      ],
      [
        'predict: objective without a base_score',
        () => read([node()], { objective: 'binary:logistic' }, 'objective'),
        'predict',
        'needs `base_score`',
      ],
      [
        'a base_score without an objective',
        () => read([node()], { base_score: 0.5 }),
        'base_score',
        '`base_score` needs `objective`',
      ],
      [
        'several classes without their number',
        () => read([node()], { objective: 'multi:softprob' }),
        'objective',
        'needs `num_class`',
      ],
      [
        'what the file has itself',
        () => readBooster(Buffer.from(JSON.stringify(model({}))), 'raw', 'best', { num_class: 2 }),
        'num_class',
        'the model file has its own',
      ],
    ];
    for (const [what, make, option, message] of options)
      it(`refuses ${what}, at the option`, () => {
        try {
          make();
        } catch (error) {
          expect(error).to.be.instanceOf(OptionError);
          expect((error as OptionError).path).to.deep.equal([option]);
          expect((error as OptionError).message).to.include(message);
          return;
        }
        expect.fail('it was taken');
      });

    const wrong: readonly (readonly [what: string, tree: unknown, message: string])[] = [
      [
        'a child too few',
        node({ children: [{ nodeid: 1, leaf: 1 }] }),
        'tree 0: the children of node 0 are not 1 and 2',
      ],
      ['a child of another number', node({ yes: 5 }), 'the children of node 0 are not 5 and 2'],
      ['a way of missing values that leads nowhere', node({ missing: 7 }), 'sends missing values to 7'],
      ['a depth that is not its own', node({ depth: 3 }), 'node 0 is at depth 0'],
      ['an indicator', node({ split_condition: undefined }), 'its feature map declares an indicator'],
      ['a dump of gblinear', { bias: [1], weight: [2] }, 'it is a dump of gblinear'],
      ['a text that is no tree', '0:[f0<1] yes=1,no=2', 'tree 0 is not JSON'],
      ['something else', { name: 1 }, 'it has no `nodeid`'],
    ];
    for (const [what, tree, message] of wrong)
      it(`refuses ${what}`, () => {
        expect(() => read([tree])).to.throw(message);
      });

    it('refuses a wrong number of trees, and a list of inputs for names without an order', async () => {
      expect(() => read([node(), node(), node()], { num_class: 2 })).to.throw(
        'it has 3 trees, 2 for each iteration',
      );
      expect(() => read([node()], {}, 'raw', 2)).to.throw('it has 1 iterations, and 2 are requested');
      const step = new FakeStep(0);
      const options = {
        model: projectFile('m.json', JSON.stringify([node()])),
        inputs: [step.number([])],
        predict: 'raw',
        iterations: 'best',
      };
      let found: unknown;
      await Promise.resolve(createComponent(plugin, options)).catch((error: unknown) => (found = error));
      expect(String(found)).to.include('does not have the order of the columns');
    });

    it('warns of numbers that old versions rounded', () => {
      const trees = (split_condition: number): object[] =>
        Array.from({ length: 10 }, () => node({ split_condition }));
      expect(read(trees(0.123457)).notices[0]?.message).to.include('numbers of at most 6 digits');
      expect(read(trees(0.123456791)).notices).to.deep.equal([]);
    });
  });

  it('stops at the best iteration if the file has one', () => {
    const trees = [1, 2, 4, 8].map(leaf);
    const attributes = { best_iteration: '1' };
    const content = model({ trees, attributes });
    expect(score(content, [[0]])).to.deep.equal([[3]]);
    expect(score(content, [[0]], 'raw', 'all')).to.deep.equal([[15]]);
    expect(score(content, [[0]], 'raw', 3)).to.deep.equal([[7]]);
    expect(() => score(content, [[0]], 'raw', 5)).to.throw('it has 4 iterations, and 5 are requested');
    const forest = { gbtree_model_param: { num_parallel_tree: '2', num_trees: '4' } };
    expect(score(model({ trees, model: forest }), [[0]], 'raw', 1)).to.deep.equal([[3]]);
    expect(score(model({ trees, model: { iteration_indptr: [0, 3, 4] } }), [[0]], 'raw', 1)).to.deep.equal([
      [7],
    ]);
  });

  it('transforms raw scores like the objective', () => {
    const predicted = (objective: string, raw: number): number | undefined =>
      score(
        model({ objective, base: BASES.get(objective) ?? '0.5', trees: [leaf(raw)] }),
        [[0]],
        'objective',
      )[0]?.[0];
    expect(predicted('binary:logistic', 0)).to.equal(0.5);
    expect(predicted('count:poisson', 1)).to.equal(Math.fround(Math.E));
    expect(predicted('binary:hinge', 1)).to.equal(1);
    expect(predicted('binary:logitraw', 1)).to.equal(1);
    const trees = [leaf(1), leaf(1)];
    const two = model({ classes: 2, objective: 'multi:softmax', trees, groups: [0, 1] });
    expect(score(two, [[0]], 'objective')).to.deep.equal([[0.5, 0.5]]);
  });

  it('ignores pruned nodes, and statistics that are not numbers', () => {
    const pruned = stump({
      left_children: [3, -1, -1, -1],
      right_children: [2, -1, -1, -1],
      split_conditions: [0.5, 99, 20, 30],
      split_indices: [0, 0, 0, 0],
      default_left: [0, 0, 0, 0],
      tree_param: { num_nodes: '4' },
    });
    expect(leaves(model({ trees: [pruned] }), 0, 1)).to.deep.equal([30, 20]);
    const text = JSON.stringify(model({ trees: [stump({ loss_changes: ['NaN', '-Infinity', 0] })] }));
    const content = Buffer.from(text.replaceAll(/"(NaN|-Infinity)"/g, '$1'));
    expect(readBooster(content, 'raw', 'best').outputs).to.equal(1);
  });

  it('reads NaN and Infinity as numbers, and does not change texts that look like them', () => {
    const text = JSON.stringify(
      model({ trees: [stump({ split_conditions: ['Infinity', 10, 20] })], names: ['a:NaN,b'] }),
    ).replaceAll('"Infinity"', 'Infinity');
    const { scored, columns } = readBooster(Buffer.from(text), 'raw', 'best');
    expect(columns.names).to.deep.equal(['a:NaN,b']);
    expect('ensemble' in scored && interpret(scored.ensemble, [3e38])).to.deep.equal([10]);
    const ensembleOf = (one: object, ...numbers: readonly unknown[]): TreeEnsemble => {
      const tree = stump({ ...one, split_conditions: numbers });
      const read = readBooster(Buffer.from(JSON.stringify(model({ trees: [tree] }))), 'raw', 'best').scored;
      return 'ensemble' in read ? read.ensemble : expect.fail('it is linear');
    };
    expect(() => {
      checkEnsemble(ensembleOf({}, null, 10, 20));
    }).to.throw('tree 0: node 0 has no threshold');
    expect(() => {
      checkEnsemble(ensembleOf({}, 1, null, 20));
    }).to.throw('tree 0: a leaf is not finite');
    // Versions 1.6 to 3.0 have NaN as the threshold of a categorical node.
    checkEnsemble(ensembleOf(CATEGORICAL, null, 10, 20));
    expect(() => ensembleOf({ split_indices: [null, 0, 0] }, 1, 10, 20)).to.throw(
      '`split_indices` has an element',
    );
  });

  it('refuses a number of iterations for gblinear, which has none', () => {
    const linear = model({ booster: () => ({ name: 'gblinear', model: { weights: [1, 0] } }) });
    expect(() => score(linear, [[1]], 'raw', 5)).to.throw('gblinear has no iterations');
  });

  it('reads UBJSON with the same result as JSON', () => {
    const text = readFileSync(repositoryPath('plugins/xgboost/models/example.json'), 'utf8');
    const json: unknown = JSON.parse(text);
    const binary = writeUbjson(json);
    expect(readUbjson(binary)).to.deep.equal(json);
    expect(readBooster(binary, 'raw', 'best')).to.deep.equal(readBooster(Buffer.from(text), 'raw', 'best'));
    for (let end = 1; end < binary.length; end += 7)
      expect(() => readBooster(binary.subarray(0, end), 'raw', 'best')).to.throw(
        /cut short|beyond its end|neither/,
      );
  });

  it('maps texts to the categories of a file from XGBoost 3.1', async () => {
    const categorical = stump(CATEGORICAL);
    const values = [...Buffer.from('blueréd')].map((byte) => (byte > 127 ? byte - 256 : byte));
    const cats = { enc: [{ offsets: [0, 4, 8], values }], feature_segments: [0, 2], sorted_idx: [] };
    const content = model({ trees: [categorical], names: ['colour'], model: { cats } });
    const step = new FakeStep(3);
    const colour = step.text(['réd', 'blue', 'green']);
    const options = {
      model: projectFile('m.json', JSON.stringify(content)),
      predict: 'raw',
      iterations: 'best',
    };
    const component = await createComponent(plugin, options, () => colour);
    expect(await compute(component as ModelComponent, step)).to.deep.equal({ score: [20, 10, 20] });
  });

  const wrong: readonly (readonly [what: string, content: string, message: string])[] = [
    ['another file', 'hello', 'neither JSON nor UBJSON'],
    ['JSON that breaks off', '{ "learner": ', 'is not JSON'],
    ['JSON of something else', '{ "name": 1 }', '`learner` is not an object'],
    ['a text of LightGBM', 'tree\nversion=v4\n', 'write `use: lightgbm`'],
    ['JSON of LightGBM', '{ "name": "tree", "tree_info": [] }', 'write `use: lightgbm`'],
    ['an objective of one’s own', JSON.stringify(model({ objective: 'mine' })), '`mine` is not known'],
    ['a base_score of words', JSON.stringify(model({ base: 'half' })), 'its base_score is "half"'],
    [
      'a base_score that does not fit',
      JSON.stringify(model({ base: '2', objective: 'binary:logistic' })),
      'does not fit its objective',
    ],
    [
      'a circle',
      JSON.stringify(model({ trees: [stump({ left_children: [0, -1, -1] })] })),
      'tree 0: it leads to node 0 twice',
    ],
    [
      'a leaf of two branches',
      JSON.stringify(model({ trees: [stump({ right_children: [1, -1, -1] })] })),
      'tree 0: it leads to node 1 twice',
    ],
    [
      'a child that is not there',
      JSON.stringify(model({ trees: [stump({ right_children: [3, -1, -1] })] })),
      'tree 0: it leads to node 3 of 3',
    ],
    [
      'an unknown feature',
      JSON.stringify(model({ trees: [stump({ split_indices: [4, 0, 0] })] })),
      'tests feature 4 of 1',
    ],
    [
      'categories whose texts are cut in two',
      JSON.stringify(
        model({ model: { cats: { enc: [{ offsets: [0, 1, 2], values: [-61, -97] }] } }, names: ['colour'] }),
      ),
      'the categories of column 0 are damaged',
    ],
    [
      'columns of unlike length',
      JSON.stringify(model({ trees: [stump({ split_indices: [0] })] })),
      'instead of 3',
    ],
  ];
  for (const [what, content, message] of wrong) {
    it(`refuses ${what}, at the option that names the file`, async () => {
      const step = new FakeStep(0);
      const options = {
        model: projectFile('m.json', content),
        inputs: [step.number([])],
        predict: 'raw',
        iterations: 'best',
      };
      try {
        await createComponent(plugin, options);
      } catch (error) {
        expect(error).to.be.instanceOf(OptionError);
        expect((error as OptionError).path).to.deep.equal(['model']);
        const { message: said, help = '' } = error as OptionError;
        expect(`${said}; ${help}`).to.include(message);
        return;
      }
      expect.fail('it was taken');
    });
  }

  it('scores every candidate, with missing values as NaN', async () => {
    const text = readFileSync(repositoryPath('plugins/xgboost/models/example.json'), 'utf8');
    const step = new FakeStep(4);
    const inputs = [step.number([10, 10, 100, absent]), step.number([3, 5, 4, absent])];
    const options = { model: projectFile('m.json', text), inputs, predict: 'raw', iterations: 'best' };
    const component = await createComponent(plugin, options);
    expect(await compute(component as ModelComponent, step)).to.deep.equal({
      score: [0.3125, 1.25, 0.1875, 0.5],
    });
  });
});
