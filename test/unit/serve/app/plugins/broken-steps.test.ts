/** Steps of a package that break in a request: each fails its request, or is corrected, and the service goes on. */
import { expect } from 'chai';
import { MillraceError } from '../../../../../runtime/ground/api/errors.js';
import { startProject } from '../../../../support/project.js';

const NAME = '@acme/millrace-geo';

const packageFiles = (kind: string, create: string): Record<string, string> => ({
  'millrace.yaml': `project: shop\nplugins: ["${NAME}"]\n`,
  [`node_modules/${NAME}/package.json`]: JSON.stringify({
    name: NAME,
    version: '1.0.0',
    type: 'module',
    millrace: { api: '^1.0', plugins: './index.js' },
  }),
  [`node_modules/${NAME}/index.js`]: `import { definePlugin, Status } from 'millrace/api';
export const plugins = [definePlugin({ name: 'near', kind: '${kind}', summary: 'A test.',
  options: { type: 'object', additionalProperties: false }, create() { ${create} } })];`,
});

const pipeline = (onError: string, value: string): string =>
  `pipeline: ranking\nrank: product\ncomponents:\n  - use: near\n    on_error: ${onError}\n  - use: score\n    with: { value: ${value} }\n`;

/** What is wrong, the kind of the plugin, the body of `create`, and a part of the cause. */
const BROKEN: readonly (readonly [title: string, kind: string, create: string, cause: string])[] = [
  [
    'throws',
    'feature',
    `return { outputs: { value: 'number' }, compute() { throw new Error('no luck'); } };`,
    'no luck',
  ],
  [
    'rejects',
    'feature',
    `return { outputs: { value: 'number' }, async compute() { throw new Error('no luck later'); } };`,
    'no luck later',
  ],
  [
    'replaces its column by a shorter one',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('value').values = new Float64Array(1); } };`,
    'the column `value` has 1 rows for 2 candidates',
  ],
  [
    'replaces its column by a list',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('value').values = [1, 2]; } };`,
    'a number column has a Float64Array of values',
  ],
  [
    'writes a status that does not exist',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('value').status[0] = 99; } };`,
    'the status 99 in row 0',
  ],
  [
    'writes to an output that it does not declare',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('other'); } };`,
    'declares no output other',
  ],
  [
    'returns the wrong thing from a filter',
    'filter',
    `return { select: () => [0] };`,
    '`select` returned no selection',
  ],
  [
    'removes a row that does not exist',
    'filter',
    `return { select: () => ({ removed: [7], reason: 'none', undecided: 0 }) };`,
    'there is no row 7',
  ],
  ['returns nothing from a rule', 'rule', `return { apply() {} };`, '`apply` returned no report'],
  [
    'pins to no position',
    'rule',
    `return { apply(input, ranking) { ranking.pin(0, 0.5); return { applied: 1, skipped: 0 }; } };`,
    'a position is a whole number from 1',
  ],
  [
    'emits an event that is not JSON',
    'rule',
    `return { apply(input) { const data = {}; data.self = data; input.emit({ data }); } };`,
    'circular structure',
  ],
];

describe('a step of a package that', () => {
  for (const [title, kind, create, cause] of BROKEN) {
    it(`${title} fails its request alone`, async () => {
      const project = await startProject({
        ...packageFiles(kind, create),
        'pipelines/ranking.yaml': pipeline('fail', '1'),
      });
      try {
        const body = { candidates: [{ product_id: 'p1' }, { product_id: 'p2' }] };
        const error: unknown = await project.rank(body).catch((one: unknown) => one);
        if (!(error instanceof MillraceError)) throw new Error('expected the request to fail');
        expect(error.code).to.equal('component_failed');
        expect(error.message).to.equal('step 1 (near) failed');
        expect((error.cause as Error).message).to.contain(cause);
      } finally {
        await project.close();
      }
    });

    it(`${title} is skipped with on_error: skip`, async () => {
      const project = await startProject({
        ...packageFiles(kind, create),
        'pipelines/ranking.yaml': pipeline('skip', '1'),
      });
      try {
        const ranked = await project.rank({ candidates: [{ product_id: 'p1' }, { product_id: 'p2' }] });
        expect(ranked.map((one) => one.ranked_score)).to.deep.equal([1, 1]);
      } finally {
        await project.close();
      }
    });
  }

  it('writes NaN leaves these cells absent', async () => {
    const create = `return { outputs: { value: 'number' }, compute(input, output) {
      const { values, status } = output.number('value');
      for (const row of input.rows) { values[row] = row === 0 ? NaN : 5; status[row] = Status.present; } } };`;
    const project = await startProject({
      ...packageFiles('feature', create),
      'pipelines/ranking.yaml': pipeline('fail', "'coalesce(near:value, 1)'"),
    });
    try {
      const ranked = await project.rank({ candidates: [{ product_id: 'p1' }, { product_id: 'p2' }] });
      expect(ranked.map((one) => [one.candidate_id, one.ranked_score])).to.deep.equal([
        ['p2', 5],
        ['p1', 1],
      ]);
    } finally {
      await project.close();
    }
  });
});
