import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { idsOf, pluginFiles, startProject } from '../support/project.js';

const CANDIDATES = { candidates: ['a', 'b', 'c'].map((product_id) => ({ product_id })) };

/** A mistake of a plugin in a request: its name, the kind of plugin, its `create`, and the message. */
const FAULTS: readonly (readonly [string, string, string, string])[] = [
  [
    'writes a status that does not exist',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('value').status[1] = 77; } };`,
    'the column `value` has the status 77 in row 1',
  ],
  [
    'writes an invalid status of a text',
    'feature',
    `return { outputs: { value: 'text' }, compute(input, output) { output.text('value').status[0] = 7; } };`,
    'the column `value` has the status 7 in row 0',
  ],
  [
    'writes a number as a text',
    'feature',
    `return { outputs: { value: 'text' }, compute(input, output) {
       const column = output.text('value'); column.values[2] = 5; column.status[2] = Status.present; } };`,
    'the column `value` is text: row 2 holds number',
  ],
  [
    'puts too short a list in a column',
    'feature',
    `return { outputs: { value: 'text' }, compute(input, output) { output.text('value').values = ['x']; } };`,
    'the column `value` has 1 rows for 3 candidates',
  ],
  [
    'puts a plain list in a number column',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('value').values = [1, 2, 3]; } };`,
    'the column `value` holds other arrays: a number column has a Float64Array of values',
  ],
  [
    'writes a bool that is neither 0 nor 1',
    'feature',
    `return { outputs: { value: 'bool' }, compute(input, output) {
       const column = output.number('value'); column.values[1] = 2; column.status[1] = Status.present; } };`,
    'the column `value` is bool: row 1 holds 2, expected 0 or 1',
  ],
  [
    'writes an output that it does not declare',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('other'); } };`,
    'declares no output other',
  ],
  [
    'returns no report',
    'rule',
    'return { apply() {} };',
    '`apply` returned no report: a rule returns { applied, skipped }',
  ],
  ['returns no selection', 'filter', 'return { select() {} };', '`select` returned no selection'],
  [
    'removes a row that does not exist',
    'filter',
    `return { select: () => ({ removed: [99], reason: 'x', undecided: 0 }) };`,
    'there is no row 99',
  ],
  [
    'buries a row that does not exist',
    'rule',
    'return { apply(input, ranking) { ranking.bury(-1); return { applied: 0, skipped: 0 }; } };',
    'there is no row -1',
  ],
  [
    'pins a row that does not exist',
    'rule',
    'return { apply(input, ranking) { ranking.pin(1.5, 1); return { applied: 0, skipped: 0 }; } };',
    'there is no row 1.5',
  ],
];

describe('a plugin that breaks its contract in a request', () => {
  for (const [what, kind, create, message] of FAULTS) {
    it(`fails its step, or is skipped, if it ${what}`, async () => {
      const files = (onError: string): Record<string, string> => ({
        'package.json': '{ "type": "module" }',
        ...pluginFiles('wrong', kind, create),
        'pipelines/ranking.yaml': `pipeline: ranking
rank: product
components:
  - use: wrong
    on_error: ${onError}
`,
      });
      const strict = await startProject(files('fail'));
      const error = await strict.rank(CANDIDATES).catch((caught: unknown) => caught);
      await strict.close();
      expect(error).to.be.instanceOf(MillraceError);
      expect((error as MillraceError).code).to.equal('component_failed');
      expect(String((error as MillraceError).cause)).to.contain(message);

      const lenient = await startProject(files('skip'));
      const { ranked, report } = await lenient.run(CANDIDATES);
      await lenient.close();
      expect(idsOf(ranked)).to.deep.equal(['a', 'b', 'c']);
      expect([...report.skippedSteps]).to.deep.equal(['wrong']);
    });
  }
});

/** Overwrites everything that a step can reach of its input, in every kind of column. */
const VANDAL = `
  const names = ['product.price', 'product.title', 'product.tags', 'product.sizes', 'product.embedding', 'request.budget', 'user.taste'];
  const needed = names.map((name) => build.need(name));
  const ruin = (input) => {
    for (const one of [...needed, ...(options.inputs ?? [])]) {
      const column = input.column(one);
      column.status.fill(Status.failed);
      if (Array.isArray(column.values)) column.values.fill('ruined'); else column.values.fill(-1);
      column.offsets?.fill(0);
      column.values = column.values.slice(0, 0);
      column.status = new Uint8Array(0);
    }
    input.rows.fill(0);
    input.rows.sort();
  };
`;
const VANDALS: Readonly<Record<string, string>> = {
  feature: `return { outputs: { value: 'number' }, compute(input) { ruin(input); } };`,
  filter: `return { select(input) { ruin(input); return { removed: [], reason: 'none', undecided: 0 }; } };`,
  rule: `return { apply(input) { ruin(input); return { applied: 0, skipped: 0 }; } };`,
  effect: `return { run(input) { ruin(input); }, served(input, page) { ruin(input); page.rows.fill(0); page.scores.fill(0); page.order().fill(0); } };`,
};

const CONSTANT_OPTIONS = JSON.stringify({
  type: 'object',
  additionalProperties: false,
  properties: { value: { millrace: 'number' } },
});

/** The values of a candidate without the outputs of the plugins of this test. */
const withoutOwn = (values: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !name.startsWith('ruins_')));

describe('a plugin that writes into its input', () => {
  const files = (vandal: string): Record<string, string> => ({
    'package.json': '{ "type": "module" }',
    'schemas/entities/product.yaml': `entity: product
attributes: { price: float, title: string, tags: list(string), sizes: list(float), embedding: vector(3) }
`,
    'schemas/entities/user.yaml': 'entity: user\nattributes: { taste: vector(3) }\n',
    ...Object.entries(VANDALS).reduce<Record<string, string>>(
      (all, [kind, create]) => ({ ...all, ...pluginFiles(`ruins_${kind}`, kind, VANDAL + create) }),
      {},
    ),
    'plugins/ruins_constant/options.schema.json': CONSTANT_OPTIONS,
    'plugins/ruins_constant/index.js': `import { definePlugin, Status } from 'millrace/api';
export const plugin = definePlugin({ name: 'ruins_constant', kind: 'rule', summary: 'A test.', options: ${CONSTANT_OPTIONS}, create(options, build) { ${VANDAL.replace('options.inputs ?? []', 'Object.values(options)')} ${VANDALS.rule ?? ''} } });
`,
    'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: {}, budget: float, user: user }
components:
${vandal}  - { use: filter, with: { keep: '"new" in product.tags' } }
  - { use: similarity, as: like, with: { vectors: [product.embedding, user.taste] } }
  - use: score
    with: { value: 'product.price + request.budget + sum(product.sizes) + like:cosine + if(product.title == "a", 100, 0) + 7' }
`,
  });
  const body = {
    include_events: true,
    budget: 5,
    user: { user_id: 'u', taste: [1, 0, 1] },
    candidates: [
      { product_id: 'a', price: 1, title: 'a', tags: ['new'], sizes: [1, 2], embedding: [1, 0, 0] },
      { product_id: 'b', price: 2, title: 'b', tags: ['old'], sizes: [], embedding: [0, 1, 0] },
      { product_id: 'c', price: 3, title: 'c', tags: ['new', 'x'], sizes: [9], embedding: [1, 0, 1] },
    ],
  };
  const ranked = async (vandal: string): Promise<unknown[]> => {
    const project = await startProject(files(vandal));
    try {
      const answers: unknown[] = [];
      for (let time = 0; time < 3; time++) {
        const { ranked: page, report } = await project.run(body);
        answers.push([page, report.degraded]);
      }
      const [pipeline] = project.app.pipelines;
      const explained = await pipeline?.explain(body, { requestId: 'r' });
      return [...answers, explained?.page.map(({ values }) => withoutOwn(values))];
    } finally {
      await project.close();
    }
  };

  const steps = [
    ...Object.keys(VANDALS).map((kind) => `{ use: ruins_${kind} }`),
    '{ use: ruins_constant, with: { value: 7 } }',
  ];
  for (const step of steps)
    it(`changes nothing for other steps and later requests: ${step}`, async () => {
      expect(await ranked(`  - ${step}\n`)).to.deep.equal(await ranked(''));
    });
});
