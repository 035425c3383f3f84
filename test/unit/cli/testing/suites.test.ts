/** The suites of `millrace/testing` pass for sound plugins and find broken ones. */
import { expect } from 'chai';
import { defineSink } from '../../../../runtime/ground/api/ledger.js';
import { definePlugin, type Plugin } from '../../../../runtime/ground/api/plugin.js';
import type { RankingEdit } from '../../../../runtime/ground/api/ranking-edit.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import type { StepInput } from '../../../../runtime/ground/api/step-input.js';
import { ModelFileError } from '../../../../runtime/ground/sdk/model-file.js';
import { defineModelFormat } from '../../../../runtime/ground/sdk/model-format.js';
import {
  FakeServices,
  modelTests,
  sinkTests,
  stepTests,
  type ConformanceTest,
} from '../../../../runtime/cli/testing/index.js';

/** The names of the tests that fail. */
async function failing(tests: readonly ConformanceTest[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, run } of tests)
    await Promise.resolve()
      .then(run)
      .catch(() => names.push(name));
  return names;
}

const format = (check: boolean): Plugin =>
  defineModelFormat({
    name: 'weights',
    summary: 'Scores with a JSON file of weights.',
    library: 'weights',
    resave: 'json.dump(weights, file)',
    read({ content }) {
      const text = content.toString('utf8');
      const parsed = (check || text.endsWith('}') ? JSON.parse(text) : { columns: [], weights: [] }) as {
        columns?: string[];
        weights?: number[];
      };
      const { columns = [], weights = [] } = parsed;
      if (check && (columns.length === 0 || columns.length !== weights.length))
        throw new ModelFileError('it needs a weight for each column');
      return {
        columns,
        score(rows, inputs, [scores = new Float64Array()]) {
          for (const row of rows)
            scores[row] = inputs.reduce(
              (sum, column, i) => sum + (weights[i] ?? 0) * (column?.values[row * column.stride] ?? NaN),
              0,
            );
        },
      };
    },
  });

const model = {
  content: Buffer.from('{"columns":["price","stock"],"weights":[2,-1]}'),
  rows: [
    { price: 3, stock: 1 },
    { price: 0.5, stock: 0 },
  ],
  expected: [5, 1],
};

const step = (members: object, options: object = {}): Plugin =>
  definePlugin({
    name: 'half',
    kind: 'rule',
    summary: 'A test.',
    options: { type: 'object', additionalProperties: false, properties: {}, ...options },
    create: () => ({
      apply(input, { scores }) {
        for (const row of input.rows) scores[row] = (scores[row] ?? 0) * 1;
        return { applied: 0, skipped: 0 };
      },
      ...members,
    }),
  });

describe('the suite of model formats', () => {
  it('passes a sound format', async () => {
    expect(await failing(modelTests(format(true), model))).to.deep.equal([]);
  });

  it('finds a wrong prediction, and a format that reads a file that is cut short', async () => {
    const wrong = { ...model, expected: [5, 2] };
    expect(await failing(modelTests(format(true), wrong))).to.deep.equal([
      'predicts what the library predicts',
    ]);
    const [cut, ...others] = await failing(modelTests(format(false), model));
    expect(cut).to.contain('cut short');
    expect(others).to.deep.equal([]);
  });
});

describe('the suite of steps', () => {
  it('passes a sound step', async () => {
    expect(await failing(stepTests(step({}), [{}]))).to.deep.equal([]);
  });

  let calls = 0;
  const broken: readonly (readonly [string, Plugin, string])[] = [
    ['options that are not closed', step({}, { additionalProperties: true }), 'refuses unknown'],
    ['an option without a description', step({}, { properties: { a: { type: 'number' } } }), 'describes'],
    [
      'a row outside the input',
      step({
        apply(input: { count: number }, { scores }: { scores: Float64Array }) {
          scores.fill(9);
          return { applied: input.count, skipped: 0 };
        },
      }),
      'outside its input',
    ],
    [
      'a step that writes into its rows',
      step({
        apply(input: { rows: Int32Array }) {
          input.rows.reverse();
          return { applied: 0, skipped: 0 };
        },
      }),
      'does not write into its input',
    ],
    [
      'contributions that do not sum to the score',
      step({
        scoring: 'sets',
        apply: ({ rows }: StepInput, { scores }: RankingEdit) => {
          for (const row of rows) scores[row] = 7;
          return { applied: rows.length, skipped: 0 };
        },
        *contributions({ rows }: StepInput, _output: string, reference?: number) {
          yield;
          return Array.from(rows, () => ({ base: reference === undefined ? 6.999 : 0, terms: [] }));
        },
      }),
      'contributions that sum',
    ],
    [
      'another output for the same input',
      step({ apply: () => ({ applied: calls++, skipped: 0 }) }),
      'the same output',
    ],
    [
      'a step that reads other rows, although it says that it does not',
      definePlugin({
        name: 'half',
        kind: 'rule',
        summary: 'A test.',
        options: step({}).options,
        create: (_options, build) => {
          const number = build.need('product.price');
          return {
            readsRowsOnly: true,
            apply: (input) => ({
              applied: input.column(number).status.filter((one) => one === Status.present).length,
              skipped: 0,
            }),
          };
        },
      }),
      'without the other rows',
    ],
    ['no report', step({ apply: () => undefined }), 'no candidates'],
  ];
  for (const [title, plugin, part] of broken)
    it(`finds ${title}`, async () => {
      expect((await failing(stepTests(plugin, [{}]))).some((name) => name.includes(part))).to.equal(true);
    });
});

describe('the suite of sinks', () => {
  const lines: string[] = [];
  const sink = (hears: boolean) =>
    defineSink({
      name: 'lines',
      summary: 'A test.',
      options: { type: 'object', additionalProperties: false, properties: {} },
      create: () => ({
        write(batch, signal) {
          if (hears) signal.throwIfAborted();
          lines.push(...batch.body().toString('utf8').trimEnd().split('\n'));
          return Promise.resolve();
        },
      }),
    });
  beforeEach(() => lines.splice(0));

  it('passes a sound sink', async () => {
    const tests = sinkTests(sink(true), { received: () => lines });
    expect(await failing(tests)).to.deep.equal([]);
  });

  it('finds a sink that ignores the signal', async () => {
    expect(await failing(sinkTests(sink(false), { received: () => lines }))).to.deep.equal([
      'does not write a batch whose signal is aborted',
    ]);
  });
});

describe('fake services', () => {
  it('keep what a plugin logs and counts, and let time pass', () => {
    const fake = new FakeServices({ time: 5 });
    fake.logger.warn('slow', { ms: 7 });
    fake.metrics.counter('calls', 'Calls.').add(2, { shop: 'a' });
    const cache = fake.cache<number>({ entries: 1, ttlMs: 10 });
    cache.set('a', 1);
    expect(cache.get('a')).to.equal(1);
    fake.time += 10;
    expect(cache.get('a')).to.equal(undefined);
    expect(fake.lines).to.deep.equal([{ level: 'warn', message: 'slow', data: { ms: 7 } }]);
    expect(fake.samples).to.deep.equal([{ metric: 'calls', value: 2, labels: { shop: 'a' } }]);
  });
});
