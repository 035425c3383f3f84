import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { lightGbmFile } from '../../../../bench/support/lightgbm-text.js';
import { readBooster, type Booster } from '../../../../plugins/lightgbm/booster.js';
import type { Predict } from '../../../../plugins/lightgbm/options.generated.js';
import { plugin } from '../../../../plugins/lightgbm/index.js';
import { ModelFileError } from '../../../../runtime/ground/sdk/model-file.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import type { ModelComponent } from '../../../../runtime/ground/api/component.js';
import type { Input } from '../../../../runtime/ground/api/input.js';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { interpret } from '../../../../runtime/language/trees/interpreter.js';
import { createComponent } from '../../../support/create-component.js';
import { repositoryPath } from '../../../support/repository.js';
import { absent, compute, FakeStep, projectFile } from '../../../support/step-input.js';

/** A model file from trees that are given as blocks of lines. */
function modelText(
  trees: readonly string[],
  header: Readonly<Record<string, string>> = {},
  end = '',
): string {
  const fields = {
    version: 'v4',
    num_class: '1',
    num_tree_per_iteration: '1',
    label_index: '0',
    max_feature_idx: '1',
    objective: 'regression',
    feature_names: 'a b',
    feature_infos: '[-9:9] [-9:9]',
    ...header,
  };
  const lines = Object.entries(fields).map(([key, value]) => (value === '' ? key : `${key}=${value}`));
  return lightGbmFile(lines, trees, end);
}

/** One node on feature a: leaves 10 left, 20 right. */
const stump = (threshold: string, decision: number, more = 'num_cat=0'): string =>
  `num_leaves=2\n${more}\nsplit_feature=0\nthreshold=${threshold}\ndecision_type=${decision}\nleft_child=-1\nright_child=-2\nleaf_value=10 20`;

const leaf = (value: number): string => `num_leaves=1\nnum_cat=0\nleaf_value=${value}`;

function score(text: string, rows: readonly (readonly number[])[], predict: Predict = 'raw'): number[][] {
  const { ensemble, transform } = readBooster(Buffer.from(text), predict);
  return rows.map((row) => {
    const outputs = interpret(ensemble, row).map((sum) => Float64Array.of(sum));
    transform?.(outputs, Int32Array.of(0));
    return outputs.map((values) => values[0] ?? NaN);
  });
}

/** The leaf of the stump that each value of feature a reaches. */
const leaves = (text: string, ...values: readonly number[]): number[] =>
  score(
    text,
    values.map((value) => [value, 0]),
  ).flat();

/** Contributions by column, or why there are none. */
function amountsOf(work: ReturnType<NonNullable<ModelComponent['contributions']>> | undefined): unknown {
  const accounts = atOnce(work ?? expect.fail('it has no contributions'));
  if (typeof accounts === 'string') return accounts;
  const round = (value = NaN): number => Number(value.toFixed(12));
  return accounts.map((account) => [
    round(account?.base),
    Object.fromEntries(account?.terms.map(({ column = '', amount }) => [column, round(amount)]) ?? []),
  ]);
}

describe('lightgbm', () => {
  describe('the text format', () => {
    it('reads the missing type and the default direction from decision_type', () => {
      const values = [NaN, 0, 1e-36, 0.5, 2];
      expect(leaves(modelText([stump('-1', 2)]), ...values), 'none: NaN is 0').to.deep.equal([
        20, 20, 20, 20, 20,
      ]);
      expect(leaves(modelText([stump('1', 0)]), ...values)).to.deep.equal([10, 10, 10, 10, 20]);
      expect(leaves(modelText([stump('1', 4)]), ...values), 'zero, right').to.deep.equal([
        20, 20, 20, 10, 20,
      ]);
      expect(leaves(modelText([stump('-1', 6)]), ...values), 'zero, left').to.deep.equal([
        10, 10, 10, 20, 20,
      ]);
      expect(leaves(modelText([stump('1', 8)]), ...values), 'NaN, right').to.deep.equal([20, 10, 10, 10, 20]);
      expect(leaves(modelText([stump('-1', 10)]), ...values), 'NaN, left').to.deep.equal([
        10, 20, 20, 20, 20,
      ]);
    });

    it('goes left at the threshold itself, in full precision, and reads infinite thresholds', () => {
      expect(leaves(modelText([stump('0.1', 2)]), 0.1, 0.10000000000000002)).to.deep.equal([10, 20]);
      expect(leaves(modelText([stump('inf', 8)]), 1e308, Infinity)).to.deep.equal([10, 10]);
      expect(leaves(modelText([stump('-inf', 8)]), -1e308)).to.deep.equal([20]);
    });

    it('reads categories as bit sets: members go left, other values right', () => {
      // {1, 33, 63}: three words; the last two belong to this node.
      const sets = 'num_cat=2\ncat_boundaries=0 1 3\ncat_threshold=4 2 2147483650';
      const values = [1, 33, 63, 2, 1.9, 64, 1000, -1, -0.5, NaN, 0];
      expect(leaves(modelText([stump('1', 1, sets)]), ...values)).to.deep.equal([
        10, 10, 10, 20, 10, 20, 20, 20, 20, 20, 20,
      ]);
    });

    it('adds linear leaves, and falls back to the constant if a feature is missing', () => {
      const linear = `${stump('0', 8)}\nis_linear=1\nleaf_const=1 2\nnum_features=0 2\nleaf_features= 0 1 \nleaf_coeff= 3 -5 `;
      const rows = [
        [-1, 7],
        [2, 7],
        [2, NaN],
      ];
      expect(score(modelText([linear]), rows)).to.deep.equal([[1], [2 + 6 - 35], [20]]);
    });

    it('assigns trees to classes, and accepts single leaves', () => {
      const header = { num_class: '2', num_tree_per_iteration: '2', objective: 'multiclass num_class:2' };
      const text = modelText([leaf(1), stump('0', 8), leaf(0.5), leaf(2)], header);
      expect(score(text, [[-1, 0]])).to.deep.equal([[1.5, 12]]);
    });

    it('splits names only at plain spaces', () => {
      const text = modelText([leaf(1)], { feature_names: 'a\u00a0b \u3000c=d' });
      expect(readBooster(Buffer.from(text), 'raw').columns.names).to.deep.equal(['a\u00a0b', '\u3000c=d']);
    });

    it('uses the requested number of iterations', () => {
      const text = Buffer.from(modelText([leaf(1), leaf(2), leaf(4)]));
      expect(readBooster(text, 'raw', 2).ensemble.trees).to.have.length(2);
      expect(() => readBooster(text, 'raw', 4)).to.throw('it has 3 iterations, and 4 are requested');
    });
  });

  describe('a damaged file', () => {
    const PYTHON = '\nparameters:\n[boosting: gbdt]\nend of parameters\n\npandas_categorical:[["a","b"]]\n';
    const whole = modelText(
      [stump('0.5', 2), leaf(1), stump('2', 2)],
      { feature_infos: '[0:1] 0:1' },
      PYTHON,
    );
    const read = (text: string): Booster => readBooster(Buffer.from(text), 'raw');

    it('is refused wherever it is cut, except where only Python can detect it', () => {
      const taken: string[] = [];
      for (let length = 0; length < whole.length - 1; length++) {
        try {
          if (read(whole.slice(0, length)).notices.length === 0)
            taken.push(whole.slice(0, length).slice(-30));
        } catch (error) {
          expect(error, `cut after ${length}`).to.be.instanceOf(ModelFileError);
        }
      }
      expect(taken).to.deep.equal([]);
      expect(read(whole).notices).to.deep.equal([]);
      // Files from R and from the command line end here.
      const [plain = ''] = whole.split('\npandas_categorical');
      expect(read(plain).notices[0]?.message).to.include('no `pandas_categorical` line');
      expect(read(plain.replace('[0:1] 0:1', '[0:1] [0:1]')).notices).to.deep.equal([]);
    });

    const trees = (text: string): string[] => text.split(/(?=Tree=\d|end of trees)/);
    const changed: readonly (readonly [what: string, text: string, message: string])[] = [
      [
        'without its last tree',
        trees(whole).toSpliced(3, 1).join(''),
        '`tree_sizes` lists 3 trees, and the file has 2',
      ],
      [
        'with a tree twice',
        trees(whole)
          .toSpliced(1, 0, trees(whole)[1] ?? '')
          .join(''),
        'the file has 4',
      ],
      [
        'with a digit more',
        whole.replace('threshold=0.5', 'threshold=0.55'),
        'tree 0 has 125 bytes, and `tree_sizes` says 124',
      ],
      [
        'with two trees that changed places',
        whole.replace('Tree=1', 'Tree=x').replace('Tree=0', 'Tree=1').replace('Tree=x', 'Tree=0'),
        'expected Tree=0, found `Tree=1`',
      ],
      [
        'with a line twice',
        whole.replace('num_class=1', 'num_class=1\nnum_class=1'),
        '`num_class` occurs twice',
      ],
      [
        'of other classes than trees',
        whole.replace('num_class=1', 'num_class=2'),
        'it has 2 classes and 1 trees',
      ],
      [
        'with a feature too few',
        whole.replace('feature_infos=[0:1] 0:1', 'feature_infos=[0:1]'),
        'it has 2 features and 1 `feature_infos`',
      ],
      [
        'whose parameters do not end',
        whole.replace('end of parameters\n', ''),
        'there is no `end of parameters`',
      ],
    ];
    for (const [what, text, message] of changed)
      it(`is refused ${what}`, () => {
        expect(() => read(text)).to.throw(message);
      });

    it('is refused if a list that no score depends on has a wrong length', () => {
      const more = (line: string): string => modelText([stump('1', 2, `num_cat=0\n${line}`)]);
      for (const line of ['split_gain=1', 'internal_count=2', 'leaf_weight=1 1', 'leaf_count=1 1']) {
        expect(read(more(line)).ensemble.trees).to.have.length(1);
        expect(() => read(more(`${line} 1`)), line).to.throw('numbers instead of');
      }
    });

    it('may have Windows line ends', () => {
      expect(read(whole.replaceAll('\n', '\r\n')).ensemble).to.deep.equal(read(whole).ensemble);
    });
  });

  describe('the text of LightGBM 2.0 and 2.1', () => {
    /** The form of LightGBM 2.1.2; 2.0.10 omits the sizes. */
    const old = (importances: string, end = '\npandas_categorical:null', sizes = true): string => {
      const text = modelText([stump('0.5', 2), leaf(1), stump('2', 2)], { version: 'v2' })
        .replace('end of trees\n', `\nfeature importances:\n${importances}`)
        .replace('\npandas_categorical:null\n', end);
      return sizes ? text : text.replace(/tree_sizes=.*\n/, '');
    };
    const read = (text: string): Booster => readBooster(Buffer.from(text), 'raw');

    it('ends its trees at the feature importances', () => {
      for (const text of [old('a=2\n'), old('a=2\n', undefined, false)]) {
        expect(score(text, [[0, 0]])).to.deep.equal([[21]]);
        expect(read(text).notices).to.deep.equal([]);
      }
    });

    it('is used with a warning if nothing marks its end', () => {
      const [notice] = read(old('a=2\n', '')).notices;
      expect(notice?.message).to.include('nothing marks its end');
      expect(notice?.help).to.equal('load it in LightGBM 2.2 or later and save it again');
    });

    it('is refused if it is cut within its trees, or a tree is missing', () => {
      const text = old('a=2\n');
      const end = text.indexOf('feature importances:\n');
      for (let length = 5; length < end; length += 3)
        expect(() => read(text.slice(0, length))).to.throw(/cut short/);
      expect(() => read(old('a=3\n', undefined, false))).to.throw('its trees split by `a` 2 times');
    });
  });

  describe('the JSON format', () => {
    const part = (index: number): object => ({
      tree_index: index,
      num_leaves: 2,
      tree_structure: {
        split_index: 0,
        split_feature: 0,
        split_gain: 1.5,
        threshold: 0.5,
        decision_type: '<=',
        default_left: true,
        missing_type: 'None',
        left_child: { leaf_index: 0, leaf_value: 10 },
        right_child: { leaf_index: 1, leaf_value: 20 },
      },
    });
    const json = (more: object): string =>
      JSON.stringify({
        num_class: 1,
        num_tree_per_iteration: 1,
        max_feature_idx: 1,
        objective: 'regression',
        feature_names: ['a', 'b'],
        feature_infos: { a: { min_value: 0, max_value: 1, values: [] } },
        tree_info: [part(0), part(1)],
        feature_importances: { a: 2 },
        ...more,
      });

    it('reports missing and duplicate trees', () => {
      expect(score(json({}), [[0, 0]])).to.deep.equal([[20]]);
      expect(() => score(json({ tree_info: [part(0)] }), [])).to.throw('its trees split by `a` 1 times');
      expect(() => score(json({ tree_info: [part(0), part(2)] }), [])).to.throw(
        '`tree_index` is 2 instead of 1',
      );
      expect(() => score(json({ tree_info: [part(0), part(0)] }), [])).to.throw(
        '`tree_index` is 0 instead of 1',
      );
      const nameless = { ...part(1), tree_index: undefined };
      expect(() => score(json({ tree_info: [part(0), nameless] }), [])).to.throw(
        '`tree_index` is nothing instead of 1',
      );
      // Importances may be sums of gains. In a dump from a later iteration they cover all iterations.
      expect(score(json({ feature_importances: { a: 3 } }), [[0, 0]])).to.deep.equal([[20]]);
      const later = { tree_info: [part(4), part(5)], feature_importances: { a: 6 } };
      expect(score(json(later), [[0, 0]])).to.deep.equal([[20]]);
      const [notice] = readBooster(Buffer.from(json(later)), 'raw').notices;
      expect(notice?.message).to.include('begins with tree 4: the trees before it');
    });

    it('reports missing and duplicate leaves', () => {
      const changed = (key: string, value: unknown): string =>
        json({}).replace(new RegExp(`"${key}":[^,}]+`), `"${key}":${JSON.stringify(value)}`);
      expect(() => score(changed('num_leaves', 3), [])).to.throw('tree 0: `num_leaves` is 3, and it has 2');
      expect(() => score(changed('leaf_index', 1), [])).to.throw('tree 0: `leaf_index` 1 occurs twice');
      expect(() => score(changed('num_class', 2), [])).to.throw('it has 2 classes and 1 trees');
    });

    it('has only raw scores if it does not name its objective', () => {
      const text = json({ objective: undefined });
      expect(score(text, [[0, 0]])).to.deep.equal([[20]]);
      expect(() => score(text, [[0, 0]], 'objective')).to.throw(
        'it has no `objective`, so only raw scores are possible',
      );
    });
  });

  it('transforms raw scores like the objective', () => {
    const predicted = (objective: string, raw: number): number | undefined =>
      score(modelText([leaf(raw)], { objective }), [[0, 0]], 'objective')[0]?.[0];
    expect(predicted('binary sigmoid:2', 0.5)).to.equal(1 / (1 + Math.exp(-1)));
    expect(predicted('cross_entropy', 0)).to.equal(0.5);
    expect(predicted('cross_entropy_lambda', 0)).to.be.closeTo(Math.log(2), 1e-15);
    for (const name of ['poisson', 'gamma', 'tweedie']) expect(predicted(name, 1)).to.equal(Math.E);
    expect(predicted('regression sqrt', -3)).to.equal(-9);
    for (const name of ['regression', 'lambdarank', 'rank_xendcg', 'huber', 'custom'])
      expect(predicted(name, -3)).to.equal(-3);
    expect(() => predicted('own_thing', 1)).to.throw('its objective `own_thing` is not known');
    const header = { num_class: '2', num_tree_per_iteration: '2' };
    const two = modelText([leaf(1), leaf(1)], { ...header, objective: 'multiclass num_class:2' });
    expect(score(two, [[0, 0]], 'objective')).to.deep.equal([[0.5, 0.5]]);
    const each = modelText([leaf(0), leaf(0)], {
      ...header,
      objective: 'multiclassova num_class:2 sigmoid:1',
    });
    expect(score(each, [[0, 0]], 'objective')).to.deep.equal([[0.5, 0.5]]);
  });

  it('averages a random forest in its prediction, not in its raw score', () => {
    const forest = modelText([leaf(1), leaf(2), leaf(6)], { average_output: '' });
    expect(score(forest, [[0, 0]])).to.deep.equal([[9]]);
    expect(score(forest, [[0, 0]], 'objective')).to.deep.equal([[3]]);
  });

  it('reads the JSON of the same model with the same result', () => {
    const model = {
      num_class: 1,
      num_tree_per_iteration: 1,
      max_feature_idx: 1,
      objective: 'binary sigmoid:1',
      feature_names: ['a', 'b'],
      feature_infos: {},
      tree_info: [
        {
          tree_index: 0,
          num_leaves: 3,
          tree_structure: {
            split_index: 0,
            split_feature: 0,
            threshold: 0.5,
            decision_type: '<=',
            default_left: true,
            missing_type: 'NaN',
            left_child: { leaf_index: 0, leaf_value: 10 },
            right_child: {
              split_index: 1,
              split_feature: 1,
              threshold: '1||33',
              decision_type: '==',
              default_left: false,
              missing_type: 'NaN',
              left_child: { leaf_index: 1, leaf_value: 20 },
              right_child: {
                leaf_index: 2,
                leaf_value: 30,
                leaf_const: 1,
                leaf_features: [0],
                leaf_coeff: [2],
              },
            },
          },
        },
        { tree_index: 1, num_leaves: 1, tree_structure: { leaf_value: 0.5 } },
      ],
      pandas_categorical: null,
    };
    expect(() => score(JSON.stringify(model), [])).to.throw('only some leaves are linear');
    const plain = JSON.stringify(model).replace(/,"leaf_const.*?2\]/, '');
    const rows = [
      [NaN, 1],
      [1, 33],
      [1, 2],
    ];
    expect(score(plain, rows)).to.deep.equal([[10.5], [20.5], [30.5]]);
    // dump_model cannot write an infinite threshold.
    const endless = plain.replace('"threshold":0.5', '"threshold":1e300');
    expect(score(endless, [[Infinity, 1]])).to.deep.equal([[10.5]]);
  });

  const wrong: readonly (readonly [what: string, content: string, message: string])[] = [
    ['another file', 'hello', 'does not begin like a LightGBM model'],
    ['JSON that breaks off', '{"name": ', 'is not JSON'],
    ['JSON of something else', '{"name": "x"}', '`num_tree_per_iteration` is not a number'],
    ['a model of XGBoost', '{"learner": {}, "version": [3, 2, 0]}', 'write `use: xgboost`'],
    ['a text that breaks off', modelText([leaf(1)]).slice(0, 150), 'is cut short'],
    ['no trees', modelText([]), 'it has 0 trees'],
    ['an unknown missing type', modelText([stump('1', 12)]), 'tree 0: decision_type 12 is unknown'],
    ['a word for a number', modelText([stump('abc', 2)]), 'tree 0: `threshold` holds "abc"'],
    [
      'too few leaves',
      modelText([stump('1', 2).replace('10 20', '10')]),
      '`leaf_value` has 1 numbers instead of 2',
    ],
    ['a set that is not there', modelText([stump('3', 1)]), 'a set of categories is missing'],
    [
      'an unknown feature',
      modelText([stump('1', 2).replace('split_feature=0', 'split_feature=7')]),
      'feature 7',
    ],
    ['a circle', modelText([stump('1', 2).replace('left_child=-1', 'left_child=0')]), 'two parents'],
    ['a node that leads nowhere', modelText([stump('1', 2).replace('=-2', '=5')]), 'leads nowhere'],
  ];
  for (const [what, content, message] of wrong) {
    it(`refuses ${what}, at the option that names the file`, async () => {
      const options = { model: projectFile('m.txt', content), predict: 'raw' };
      const step = new FakeStep(0);
      try {
        await createComponent(plugin, options, () => step.number([]));
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

  describe('as a component', () => {
    const example = projectFile(
      'models/example.txt',
      readFileSync(repositoryPath('plugins/lightgbm/models/example.txt'), 'utf8'),
    );

    it('scores every candidate, with missing values as NaN', async () => {
      const step = new FakeStep(5, [0, 1, 2, 3]);
      const columns = new Map([
        ['product__price', step.number([10, 10, 100, absent, 1])],
        ['product__rating', step.number([3, 5, 4, absent, 1])],
      ]);
      const need = (name: string): ReturnType<FakeStep['number']> => columns.get(name) ?? expect.fail(name);
      const component = await createComponent(plugin, { model: example, predict: 'raw' }, need);
      expect(await compute(component as ModelComponent, step)).to.deep.equal({
        score: [-0.1875, 0.75, -0.3125, 0.125, absent],
      });
    });

    it('divides scores among its columns, by the covers of the file', async () => {
      const step = new FakeStep(3);
      const columns = new Map([
        ['product__price', step.number([10, 10, 100])],
        ['product__rating', step.number([3, 5, absent])],
      ]);
      const need = (name: string): Input => columns.get(name) ?? expect.fail(name);
      const component = await createComponent(plugin, { model: example, predict: 'raw' }, need);
      const divide = (reference?: number): unknown =>
        amountsOf((component as ModelComponent).contributions?.(step, 'score', reference));
      expect(divide()).to.deep.equal([
        [-0.01875, { product__price: 0.091666666667, product__rating: -0.260416666667 }],
        [-0.01875, { product__price: 0.216666666667, product__rating: 0.552083333333 }],
        [-0.01875, { product__price: -0.1375, product__rating: 0.15625 }],
      ]);
      expect(divide(0)).to.deep.equal([
        [0, {}],
        [0, { product__rating: 0.9375 }],
        [0, { product__price: -0.125, product__rating: 0.3125 }],
      ]);
    });

    it('divides only differences if its file has no covers', async () => {
      const step = new FakeStep(2);
      const [a, b] = [step.number([0, 2]), step.number([1, 1])];
      const file = projectFile('models/model.txt', modelText([stump('1', 2)]));
      const component = await createComponent(plugin, { model: file, predict: 'raw' }, (name) =>
        name === 'a' ? a : b,
      );
      const divide = (reference?: number): unknown =>
        amountsOf((component as ModelComponent).contributions?.(step, 'score', reference));
      expect(divide()).to.equal('its file does not say how many training rows reached each node');
      expect(divide(0)).to.deep.equal([
        [0, {}],
        [0, { a: 10 }],
      ]);
    });

    it('maps texts and numbers to pandas codes, and unseen values to missing', async () => {
      const node = stump('0', 1, 'num_cat=1\ncat_boundaries=0 1\ncat_threshold=2');
      const second = node.replace('split_feature=0', 'split_feature=1');
      const text = modelText(
        [node, second],
        { feature_infos: '0:1 0:1' },
        'pandas_categorical:[["blue", "red"], [7, 9]]',
      );
      const step = new FakeStep(3);
      const columns = new Map<string, Input>([
        ['a', step.text(['red', 'blue', 'green'])],
        ['b', step.number([7, 9, 1])],
      ]);
      const component = await createComponent(
        plugin,
        { model: projectFile('m.txt', text), predict: 'raw' },
        (name) => columns.get(name) ?? expect.fail(name),
      );
      expect(await compute(component as ModelComponent, step)).to.deep.equal({ score: [30, 30, 40] });
    });

    /** Columns a, b and c. The second and third have pandas categories; the model describes them in different ways. */
    const pandas = (header: Readonly<Record<string, string>>, end: string): string =>
      modelText(
        [stump('0', 1, 'num_cat=1\ncat_boundaries=0 1\ncat_threshold=2').replace('feature=0', 'feature=2')],
        { max_feature_idx: '2', feature_names: 'a b c', ...header },
        end,
      );
    const categoriesOf = (text: string): unknown[] =>
      Array.from(readBooster(Buffer.from(text), 'raw').columns.categories ?? [], ([column, codes]) => [
        column,
        [...codes.keys()],
      ]);

    it('finds the columns of pandas categories, even if training did not use one', () => {
      const lists = 'pandas_categorical:[["one"], ["blue", "red"]]';
      const both = [
        [1, ['one']],
        [2, ['blue', 'red']],
      ];
      const parameters = '\nparameters:\n[categorical_feature: 1,2]\nend of parameters\n\n';
      expect(categoriesOf(pandas({ feature_infos: '[0:1] none 0:1' }, lists))).to.deep.equal(both);
      expect(categoriesOf(pandas({ feature_infos: 'none none 0:1' }, parameters + lists))).to.deep.equal(
        both,
      );
      const json = {
        num_class: 1,
        num_tree_per_iteration: 1,
        max_feature_idx: 2,
        feature_names: ['a', 'b', 'c'],
        feature_infos: { a: { min_value: 0, max_value: 1, values: [] }, c: { values: [0, 1] } },
        tree_info: [{ tree_index: 0, num_leaves: 1, tree_structure: { leaf_value: 1 } }],
        pandas_categorical: [['one'], ['blue', 'red']],
      };
      expect(categoriesOf(JSON.stringify(json))).to.deep.equal(both);
    });

    it('refuses categories whose columns are ambiguous', () => {
      const refused = (infos: string, lists: string): Chai.Assertion =>
        expect(() => categoriesOf(pandas({ feature_infos: infos }, `pandas_categorical:${lists}`))).to;
      // An ordered category column looks like a column of numbers.
      refused('[0:1] [0:2] 0:1', '[["s","m","l"],["x","y"]]').throw('not known');
      refused('none none 0:1', '[["s","m","l"],["x","y"]]').throw('not known');
      // A column of integers was declared categorical, and the category column is another one.
      refused('[0:1] [0:1] 0:1:7', '[["x","y"]]').throw('column `c` has the code 7');
    });

    it('has an output for each class', async () => {
      const header = { num_class: '2', num_tree_per_iteration: '2', objective: 'multiclass num_class:2' };
      const model = projectFile('m.txt', modelText([leaf(1), leaf(2)], header));
      const step = new FakeStep(1);
      const component = await createComponent(plugin, { model, predict: 'raw' }, () => step.number([1]));
      expect(await compute(component as ModelComponent, step)).to.deep.equal({ class_0: [1], class_1: [2] });
    });
  });
});
