import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { OptionError } from '../../../runtime/ground/api/option-error.js';
import type { ModelComponent } from '../../../runtime/ground/api/component.js';
import type { ProjectFile } from '../../../runtime/ground/api/build-context.js';
import { Status } from '../../../runtime/ground/api/status.js';
import { FlatScorer } from '../../../runtime/language/trees/flat-scorer.js';
import { NodeRule } from '../../../runtime/ground/api/tree-ensemble.js';
import { plugin } from '../../../plugins/onnx/index.js';
import { withoutZipMap } from '../../../plugins/onnx/zip-map.js';
import { createComponent, NO_NOTICES } from '../../support/create-component.js';
import { attribute, denseModel, onnxModel, treeModel, type OnnxGraph } from '../../support/onnx-writer.js';
import { describeWith } from '../../support/needs.js';
import { randomColumns, randomEnsemble } from '../../support/random-ensemble.js';
import { repositoryPath } from '../../support/repository.js';
import { absent, compute, FakeStep } from '../../support/step-input.js';

const file = (content: Buffer): ProjectFile => ({ path: 'models/m.onnx', content, version: '0123456789ab' });
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

describe('onnx without onnxruntime-node', () => {
  it('explains how to install it', async () => {
    const build = { findPackage: () => undefined };
    const options = { model: file(denseModel([1], 0)), threads: 1 };
    const error: unknown = await Promise.resolve(plugin.create(options as never, build as never)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(OptionError);
    expect(error).to.have.property('help', 'run `npm install onnxruntime-node` in the project folder');
    expect(error).to.have.deep.property('path', ['model']);
  });

  it('has an example file that the tests can write', () => {
    const written = denseModel([0.5, -0.25, 0.125], 0.1);
    expect(readFileSync(repositoryPath('plugins/onnx/models/example.onnx')).equals(written)).to.be.true;
  });
});

describeWith('onnxruntime-node', 'onnx', function () {
  let models: ModelComponent[] = [];

  afterEach(async () => {
    await Promise.all(models.map(async (one) => one.close?.()));
    models = [];
  });

  async function model(content: Buffer, options: object = {}): Promise<ModelComponent> {
    const all = { model: file(content), threads: 1, ...options };
    const built = (await createComponent(plugin, all)) as ModelComponent;
    models.push(built);
    await built.warm?.(NO_NOTICES);
    return built;
  }

  const graph = (more: Partial<OnnxGraph>): Buffer =>
    onnxModel({
      inputs: [{ name: 'x', shape: ['N', 1] }],
      outputs: [{ name: 'y', shape: ['N', 1] }],
      nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }],
      ...more,
    });

  async function scores(built: ModelComponent, step: FakeStep): Promise<unknown> {
    return (await compute(built, step))['score'];
  }

  it('scores a dense model with inputs side by side, including vectors', async () => {
    const step = new FakeStep(4, [0, 1, 3]);
    const inputs = [
      step.number([1, -1, 9, 0]),
      step.vector(
        [
          [1, 0],
          [2, 2],
          [9, 9],
          [0, 1],
        ],
        2,
      ),
    ];
    const expected = [1, 0, NaN, 0.125].map((x) => sigmoid(x));
    for (const written of [inputs, { features: inputs }, { features: { value: inputs } }]) {
      const built = await model(denseModel([0.5, 0.25, -0.125], 0.25), { inputs: written });
      const found = (await scores(built, step)) as number[];
      expect(found[2]).to.deep.equal(absent);
      for (const row of [0, 1, 3]) expect(found[row]).to.be.closeTo(expected[row] ?? NaN, 1e-6);
      expect(built.version).to.equal('0123456789ab');
    }
  });

  it('scores trees like the tree engine, including missing values', async () => {
    const ensemble = randomEnsemble(3, {
      trees: 20,
      leaves: 16,
      features: 6,
      thresholds: 20,
      precision: 'float32',
      comparison: 'less_or_equal',
      rules: [NodeRule.nan, NodeRule.nan | NodeRule.defaultLeft],
    });
    const count = 200;
    const columns = randomColumns(5, ensemble, count).map((column) => column.filter(Number.isFinite));
    const cells = columns.map((column) => Array.from({ length: count }, (_, row) => column[row] ?? absent));
    const step = new FakeStep(count);
    const built = await model(treeModel(ensemble), { inputs: cells.map((one) => step.number(one)) });
    const found = (await scores(built, step)) as number[];
    const expected = new Float64Array(count);
    new FlatScorer(ensemble).score(
      step.rows,
      cells.map((one) => ({
        values: Float64Array.from(one, (cell) => (typeof cell === 'number' ? cell : NaN)),
        stride: 1,
      })),
      [expected],
    );
    for (const row of step.rows) expect(found[row]).to.be.closeTo(expected[row] ?? NaN, 1e-5);
  });

  it('binds columns by name, in the type that the model states', async () => {
    const inputs = [
      { name: 'a', type: 'float64' as const, shape: ['N'] },
      { name: 'b', type: 'int64' as const, shape: ['N', 1] },
      { name: 'c', type: 'bool' as const, shape: ['N', 1] },
    ];
    const content = graph({
      inputs,
      outputs: inputs.map((one) => ({ ...one, name: `${one.name}_out` })),
      nodes: inputs.map(({ name }) => ({ op: 'Identity', inputs: [name], outputs: [`${name}_out`] })),
    });
    const step = new FakeStep(3);
    const named = new Map([
      ['a', step.number([0.1, absent, 3])],
      ['b', step.number([2 ** 53 - 1, 2, absent])],
      ['c', step.bool([true, false, true])],
    ]);
    const options = { model: file(content), threads: 1, outputs: { a: 'a_out', b: 'b_out[0]', c: 'c_out' } };
    const need = (name: string) => named.get(name) ?? expect.fail(name);
    const built = (await createComponent(plugin, options, need)) as ModelComponent;
    models.push(built);
    await built.warm?.(NO_NOTICES);
    const failed = { status: Status.failed };
    // The missing a is sent as NaN. b cannot be NaN, so without b the candidate is not scored.
    expect(await compute(built, step)).to.deep.equal({
      a: [0.1, failed, absent],
      b: [2 ** 53 - 1, 2, absent],
      c: [1, 0, absent],
    });
  });

  it('accepts texts', async () => {
    const content = graph({
      inputs: [{ name: 'x', type: 'string', shape: ['N', 1] }],
      nodes: [
        {
          op: 'LabelEncoder',
          domain: 'ai.onnx.ml',
          inputs: ['x'],
          outputs: ['y'],
          attributes: [
            attribute.texts('keys_strings', ['red', 'blue']),
            attribute.floats('values_floats', [1, 2]),
            attribute.float('default_float', -1),
          ],
        },
      ],
    });
    const step = new FakeStep(4);
    const colour = step.text(['blue', 'red', 'pink', absent]);
    expect(await scores(await model(content, { inputs: { x: colour } }), step)).to.deep.equal([
      2,
      1,
      -1,
      absent,
    ]);
    const filled = await model(content, { inputs: { x: { value: colour, missing: 'red' } } });
    expect(await scores(filled, step)).to.deep.equal([2, 1, -1, 1]);
  });

  it('sends values of the request once if the model has one row for them', async () => {
    const content = graph({
      inputs: [
        { name: 'user', shape: [1, 2] },
        { name: 'item', shape: ['N', 2] },
      ],
      nodes: [
        { op: 'Mul', inputs: ['user', 'item'], outputs: ['product'] },
        {
          op: 'ReduceMean',
          inputs: ['product'],
          outputs: ['y'],
          attributes: [attribute.ints('axes', [1])],
        },
      ],
    });
    const step = new FakeStep(3);
    const item = step.vector(
      [
        [1, 1],
        [2, 0],
        [0, 4],
      ],
      2,
    );
    const built = await model(content, { inputs: { user: step.requestVector([1, 3], 2), item } });
    expect(await scores(built, step)).to.deep.equal([2, 1, 6]);
    const unknown = await model(content, { inputs: { user: step.requestVector(absent, 2), item } });
    expect(await scores(unknown, step)).to.deep.equal([0, 1, 2].map(() => ({ status: Status.failed })));
  });

  it('runs a model with a fixed number of rows as often as needed, and any model in batches', async () => {
    const step = new FakeStep(10, [0, 1, 2, 3, 5, 7, 9]);
    const cells = Array.from({ length: 10 }, (_, row) => row / 2);
    const expected = cells.map((x, row) => (step.rows.includes(row) ? x : absent));
    for (const [rows, batch] of [[1], [3], [10], [100], ['N', 2], ['N', 7]] as const) {
      const content = graph({
        inputs: [{ name: 'x', shape: [rows, 1] }],
        outputs: [{ name: 'y', shape: [rows, 1] }],
      });
      const built = await model(content, { inputs: [step.number(cells)], ...(batch && { batch }) });
      expect(await scores(built, step), String(rows)).to.deep.equal(expected);
    }
  });

  it('writes a failed cell for a number that is not finite', async () => {
    const content = graph({ nodes: [{ op: 'Log', inputs: ['x'], outputs: ['y'] }] });
    const step = new FakeStep(4);
    const built = await model(content, { inputs: [step.number([1, 0, -1, absent])] });
    const failed = { status: Status.failed };
    expect(await scores(built, step)).to.deep.equal([0, failed, failed, failed]);
  });

  it('does not block the event loop, and copies inputs before it waits', async () => {
    const width = 512;
    const weights = { name: 'w', shape: [width, width], values: new Array<number>(width * width).fill(1e-3) };
    const layers = Array.from({ length: 12 }, (_, i) => ({
      op: 'MatMul',
      inputs: [i === 0 ? 'x' : `h${i}`, 'w'],
      outputs: [i === 11 ? 'y' : `h${i + 1}`],
    }));
    const content = graph({
      inputs: [{ name: 'x', shape: ['N', width] }],
      outputs: [{ name: 'y', shape: ['N', width] }],
      weights: [weights],
      nodes: layers,
    });
    const step = new FakeStep(300);
    const vectors = Array.from({ length: 300 }, () => new Array<number>(width).fill(1));
    const input = step.vector(vectors, width);
    const built = await model(content, { inputs: [input], outputs: { score: 'y[0]' } });
    const before = await scores(built, step);
    let turns = 0;
    let running = true;
    const count = (): void => {
      turns++;
      if (running) setImmediate(count);
    };
    const work = scores(built, step);
    step.column(input).values.fill(NaN);
    count();
    expect(await work).to.deep.equal(before);
    running = false;
    expect(turns, 'turns of the event loop while the model ran').to.be.above(5);
  });

  it('leaves the queue and does not write columns after the request ended', async () => {
    const step = new FakeStep(2);
    const built = await model(graph({}), { inputs: [step.number([1, 2])] });
    const controller = new AbortController();
    const late = new FakeStep(2);
    late.number([1, 2]);
    Object.assign(late, { signal: controller.signal });
    const running = scores(built, step);
    const waiting = scores(built, late).catch((error: unknown) => (error as Error).message);
    controller.abort(new Error('the deadline is over'));
    expect(await waiting).to.equal('the deadline is over');
    expect(await running).to.deep.equal([1, 2]);
    const begun = new AbortController();
    Object.assign(late, { signal: begun.signal });
    const result = scores(built, late);
    begun.abort(new Error('the deadline is over'));
    expect(await result.catch(() => [absent, absent])).to.deep.equal([absent, absent]);
  });

  it('closes after the running batch ended', async () => {
    const step = new FakeStep(2);
    const built = await model(graph({}), { inputs: [step.number([1, 2])] });
    const running = [scores(built, step), scores(built, step)];
    await built.close?.();
    expect(await Promise.all(running)).to.deep.equal([
      [1, 2],
      [1, 2],
    ]);
  });

  it('refuses invalid options at their place', async () => {
    const step = new FakeStep(3);
    const x = step.number([1, 2, 3]);
    const text = step.text(['a', 'b', 'c']);
    const two = onnxModel({
      inputs: [
        { name: 'a', shape: ['N', 2] },
        { name: 'Not bindable', shape: [4, 2] },
      ],
      outputs: [
        { name: 'label', type: 'int64', shape: ['N'] },
        { name: 'probabilities', shape: ['N', 2] },
        { name: 'zip', zipMap: true },
      ],
      nodes: [
        { op: 'Add', inputs: ['a', 'Not bindable'], outputs: ['probabilities'] },
        {
          op: 'ArgMax',
          inputs: ['a'],
          outputs: ['label'],
          attributes: [attribute.int('axis', 1), attribute.int('keepdims', 0)],
        },
        {
          op: 'ZipMap',
          domain: 'ai.onnx.ml',
          inputs: ['probabilities'],
          outputs: ['zip'],
          attributes: [attribute.ints('classlabels_int64s', [0, 1])],
        },
      ],
    });
    const dense = denseModel([1, 2], 0);
    const mistakes: readonly (readonly [
      content: Buffer,
      options: object,
      path: readonly unknown[],
      message: string,
    ])[] = [
      [Buffer.from('no model'), {}, ['model'], 'is not a usable ONNX model'],
      [dense, { inputs: { feature: [x, x] } }, ['inputs', 'feature'], 'has no input `feature`'],
      [dense, { inputs: [x] }, ['inputs'], 'is float32 [?, 2], and a row of `inputs` has 1 number'],
      [
        dense,
        { inputs: { features: [x, text] } },
        ['inputs', 'features', 1],
        'holds float32, and `text` is a text',
      ],
      [
        dense,
        { inputs: { features: { value: [x, text] } } },
        ['inputs', 'features', 'value', 1],
        'is a text',
      ],
      [two, { inputs: [x, x] }, ['inputs'], 'the model has 2 inputs'],
      [two, { inputs: { a: [x, x] } }, ['inputs'], '`Not bindable` cannot be bound by name'],
      [
        two,
        { inputs: { a: [x, x], 'Not bindable': [x, x] } },
        ['inputs'],
        'do not agree in their number of rows',
      ],
      [
        dense,
        { inputs: [x, x], outputs: { score: 'scores' } },
        ['outputs', 'score'],
        'did you mean `score`?',
      ],
      [
        dense,
        { inputs: [x, x], outputs: { score: 'logits' } },
        ['outputs', 'score'],
        'it has `score` [?, 1]',
      ],
      [dense, { inputs: [x, x], outputs: { score: 'score[1]' } }, ['outputs', 'score'], 'has 1 numbers'],
    ];
    for (const [content, options, path, message] of mistakes) {
      const error: unknown = await model(content, options).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(OptionError);
      const { help = '', message: said } = error as OptionError;
      expect(`${said} ${help}`).to.include(message);
      expect(error).to.have.deep.property('path', path);
    }
  });

  it('requires a choice among several outputs', async () => {
    const step = new FakeStep(2);
    const x = step.number([1, 2]);
    const content = onnxModel({
      inputs: [{ name: 'a', shape: ['N', 2] }],
      outputs: [
        { name: 'probabilities', shape: ['N', 2] },
        { name: 'other', shape: ['N', 2] },
      ],
      nodes: [
        { op: 'Identity', inputs: ['a'], outputs: ['probabilities'] },
        { op: 'Identity', inputs: ['a'], outputs: ['other'] },
      ],
    });
    const messages: readonly (readonly [outputs: object | undefined, message: string])[] = [
      [undefined, 'the model has 2 outputs'],
      [{ p: 'probabilities' }, 'write `probabilities[0]` … `probabilities[1]`'],
    ];
    for (const [outputs, message] of messages) {
      const error: unknown = await model(content, { inputs: [x, x], ...(outputs && { outputs }) }).catch(
        (thrown: unknown) => thrown,
      );
      const { help = '', message: said } = error as OptionError;
      expect(`${said} ${help}`).to.include(message);
    }
    const built = await model(content, { inputs: [x, x], outputs: { score: 'probabilities[1]' } });
    expect(await scores(built, step)).to.deep.equal([1, 2]);
  });

  describe('classifiers with ZipMap', () => {
    /**
     * The outputs of converters: a label, and maps from class to probability. Here the probabilities are the inputs.
     */
    const classifier = (labels: object, width: number, more: Partial<OnnxGraph> = {}): Buffer =>
      onnxModel({
        inputs: [{ name: 'a', shape: ['N', width] }],
        outputs: [
          { name: 'label', type: 'int64', shape: ['N'] },
          { name: 'zip', zipMap: true },
        ],
        nodes: [
          { op: 'Identity', inputs: ['a'], outputs: ['tensor'] },
          {
            op: 'ArgMax',
            inputs: ['tensor'],
            outputs: ['label'],
            attributes: [attribute.int('axis', 1), attribute.int('keepdims', 0)],
          },
          { op: 'ZipMap', domain: 'ai.onnx.ml', inputs: ['tensor'], outputs: ['zip'], attributes: [labels] },
        ],
        ...more,
      });
    const two = classifier(attribute.ints('classlabels_int64s', [0, 1]), 2);
    const three = classifier(attribute.texts('classlabels_strings', ['cat', 'dog', 'owl']), 3);

    it('score with the probability of the second of two classes', async () => {
      const step = new FakeStep(3);
      const [no, yes] = [step.number([0.75, 0.5, 1]), step.number([0.25, 0.5, 0])];
      expect(await scores(await model(two, { inputs: [no, yes] }), step)).to.deep.equal([0.25, 0.5, 0]);
    });

    it('give the probability of any class by output name and index', async () => {
      const step = new FakeStep(2);
      const inputs = [step.number([0.5, 0.125]), step.number([0.25, 0.125]), step.number([0.25, 0.75])];
      const built = await model(three, { inputs, outputs: { cat: 'zip[0]', owl: 'zip[2]', best: 'label' } });
      expect(await compute(built, step)).to.deep.equal({
        cat: [0.5, 0.125],
        owl: [0.25, 0.75],
        best: [0, 2],
      });
    });

    it('list the classes if one must be chosen', async () => {
      const x = new FakeStep(1).number([1]);
      for (const [outputs, said] of [
        [undefined, 'write e.g. outputs: { score: "zip[2]" }'],
        [undefined, '`zip` [?, 3] (classes [0] "cat", [1] "dog", [2] "owl")'],
        [{ p: 'zip' }, 'write `zip[0]` … `zip[2]` for one of them (classes [0] "cat"'],
        [{ p: 'zip[3]' }, 'has 3 numbers for each candidate'],
      ] as const) {
        const options = { inputs: [x, x, x], ...(outputs && { outputs }) };
        const error = (await model(three, options).catch((thrown: unknown) => thrown)) as OptionError;
        expect(`${error.message} ${error.help ?? ''}`).to.include(said);
      }
    });

    it('read the tensor even if it is an output itself or another node reads the maps', async () => {
      const step = new FakeStep(1);
      const inputs = [step.number([0.75]), step.number([0.25])];
      const both = classifier(attribute.ints('classlabels_int64s', [7, -9]), 2, {
        outputs: [
          { name: 'tensor', shape: ['N', 2] },
          { name: 'zip', zipMap: true },
        ],
      });
      expect(await compute(await model(both, { inputs }), step)).to.deep.equal({ score: [0.25] });
      const named = await model(both, { inputs, outputs: { a: 'zip[0]', b: 'zip[1]' } });
      expect(await compute(named, step)).to.deep.equal({ a: [0.75], b: [0.25] });
    });

    it('leave other files unchanged', () => {
      const broken = Buffer.concat([two.subarray(0, two.length - 40), Buffer.from('ZipMap')]);
      for (const content of [denseModel([1], 0), Buffer.from('ZipMap'), Buffer.alloc(0), broken])
        expect(withoutZipMap(content).content).to.equal(content);
      // Another domain has other operators.
      const other = graph({
        outputs: [{ name: 'y', zipMap: true }],
        nodes: [{ op: 'ZipMap', domain: 'com.example', inputs: ['x'], outputs: ['y'] }],
      });
      expect(withoutZipMap(other).content).to.equal(other);
    });
  });
});
