import { expect } from 'chai';
import { explanationText } from '../../runtime/cli/report/explanation-text.js';
import { Random } from '../../runtime/ground/core/random.js';
import type {
  ExplainedAccount,
  ExplainedCandidate,
  ExplainedPair,
  Explanation,
} from '../../runtime/request/pipeline/explain/explanation.js';
import { draws } from '../support/draws.js';
import { pluginFiles, startProject, type TestProject } from '../support/project.js';
import { RANDOM_PROJECT, randomPipelines, randomRequest } from '../support/random-pipelines.js';

/** How the scores of an explanation came to be: `<route>/explain?contributions=true`. */

const FILES = {
  ...RANDOM_PROJECT,
  ...pluginFiles(
    'silent',
    'model',
    `return { outputs: { score: 'number' }, compute({ rows }, output) {
       const { values, status } = output.number('score');
       for (const row of rows) { values[row] = 4; status[row] = Status.present; }
     } };`,
  ),
  ...pluginFiles(
    'wrong',
    'model',
    `return { outputs: { score: 'number' }, compute({ rows }, output) {
       const { values, status } = output.number('score');
       for (const row of rows) { values[row] = 2; status[row] = Status.present; }
     }, *contributions({ rows }) { throw new Error('out of order'); } };`,
  ),
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { boost: optional(float) }
params: { w: { value: 3, min: 0, max: 9 } }
define: { margin: product.price / 10 - 1, fresh: "if(product.age < 5, 1, 0)" }
components:
  - use: lightgbm
    as: ltr
    with: { model: models/trees.txt, inputs: { product__price: product.price * 2 } }
  - use: silent
  - use: wrong
  - use: score
    with:
      value: "w * (ltr:score - margin) + 0.5 + request.boost * fresh + log1p(product.price) + silent:score - wrong:score"
  - use: boost
    with: { where: product.rating > 4, add: 10 }
  - use: score
    as: again
    with: { value: "-score / 2 + coalesce(product.age, 7)" }
page: { size: 3 }
`,
};

const CANDIDATES = [
  { product_id: 'a', price: 10, rating: 3, age: 1 },
  { product_id: 'b', price: 100, rating: 5, age: 9 },
  { product_id: 'c', price: 30, rating: 4.5 },
];

/** What an account misses, as a part of its largest number. */
function missOf({ base = 0, terms = [], remainder = 0, value, sum = value }: ExplainedAccount): number {
  const numbers = [base, ...terms.map(({ amount }) => amount), remainder];
  const most = Math.max(Math.abs(sum), ...numbers.map(Math.abs), Number.MIN_VALUE);
  return Math.abs(numbers.reduce((all, one) => all + one, 0) - sum) / most;
}

/** Checks that the accounts of a candidate sum, that each leads to the next, and that the first ends at the score. */
function check({ score, changes, contributions = [] }: ExplainedCandidate): void {
  const names = new Set(contributions.map(({ of }) => of));
  for (const account of contributions) {
    if (account.method === 'opaque') continue;
    expect(missOf(account)).to.be.at.most(1e-9);
    const rounding = account.method === 'tree_shap' ? 1e-5 : 1e-9;
    const most = Math.max(1, ...(account.terms ?? []).map(({ amount }) => Math.abs(amount)));
    expect(Math.abs(account.remainder ?? 0), account.of).to.be.at.most(rounding * most);
    for (const { of, text, amount, weight, value } of account.terms ?? []) {
      // The score of a candidate that no step set has no account.
      if (of !== undefined && of !== 'score') expect([...names], text).to.include(of);
      if (weight !== undefined && typeof value === 'number')
        expect(amount, text).to.be.closeTo(weight * value, 1e-9 * Math.abs(amount));
    }
  }
  const [first] = contributions.filter(({ of }) => of === 'score');
  const scores = changes.flatMap((one) => ('after' in one ? [{ step: one.step, after: one.after }] : []));
  const later = scores.filter(({ step }) => step > (first?.step ?? 0));
  expect(later.at(-1)?.after ?? first?.value ?? 0).to.equal(score);
}

/** Checks that the accounts of a pair sum, and that the first of them leads to the difference of the scores. */
function checkPair(pair: ExplainedPair | undefined): void {
  const {
    candidates,
    split,
    reason,
    difference,
    changed = [],
    contributions = [],
  } = pair ?? expect.fail('none');
  const [one, other] = candidates;
  if (reason !== undefined) {
    expect(difference).to.equal(undefined);
    return;
  }
  for (const account of contributions)
    if (account.method !== 'opaque') {
      expect(missOf(account)).to.be.at.most(1e-9);
      expect(account.method).not.to.equal('tree_shap');
    }
  const first = contributions.find(({ of }) => of === 'score')?.value ?? 0;
  const sum = changed.reduce((all, { amount }) => all + amount, first);
  const most = Math.max(1, Math.abs(first), ...candidates.map(({ score }) => Math.abs(score ?? 0)));
  expect(sum).to.be.closeTo(difference ?? NaN, 1e-9 * most);
  if (split === undefined) expect(difference).to.equal((one.score ?? NaN) - (other.score ?? NaN));
  else {
    const below = candidates.find(({ candidate_id: id }) => id === split.below);
    const above = candidates.find(({ candidate_id: id }) => id !== split.below);
    expect(below?.place).to.be.greaterThan(above?.place ?? NaN);
  }
}

describe('contributions', () => {
  let project: TestProject;
  const explain = async (
    name: string,
    body: object,
    compare?: readonly [string, string],
  ): Promise<Explanation> => {
    const pipeline = project.app.pipelines.find((one) => one.name === name);
    if (pipeline === undefined) throw new Error(`the project has no pipeline ${name}`);
    const pair = compare === undefined ? {} : { compare };
    return pipeline.explain(body, { requestId: 'r', runId: 'run', contributions: true, ...pair });
  };

  afterEach(() => project.close());

  it('divide each score among what its step reads, and lead to the accounts of that', async () => {
    project = await startProject(FILES);
    const { page } = await explain('ranking', { candidates: CANDIDATES, boost: 2 });
    for (const candidate of page) check(candidate);
    const [b] = page;
    const termsOf = ({ terms = [] }: ExplainedAccount): unknown =>
      terms.map(({ text, of, amount }) => [
        text,
        ...(of === undefined ? [] : [of]),
        Number(amount.toFixed(6)),
      ]);
    expect(b?.candidate_id).to.equal('b');
    expect(
      b?.contributions?.map((one) => [one.of, one.step, one.method, one.reason, one.base, termsOf(one)]),
    ).to.deep.equal([
      ...[['score', 6, 'sum', undefined, 0]].map((head) => [
        ...head,
        [
          ['score', 'score', 4.94244],
          ['coalesce(product.age, 7)', 9],
        ],
      ]),
      [
        'score',
        4,
        'sum',
        undefined,
        0.5,
        [
          ['ltr:score', 'ltr:score', 0],
          ['margin', 'margin', -27],
          ['fresh', 'fresh', 0],
          ['log1p(product.price)', 4.615121],
          ['silent:score', 'silent:score', 4],
          ['wrong:score', 'wrong:score', -2],
        ],
      ],
      ['wrong:score', 3, 'opaque', 'out of order', undefined, []],
      ['silent:score', 2, 'opaque', 'its plugin does not divide it', undefined, []],
      [
        'ltr:score',
        1,
        'tree_shap',
        undefined,
        -0.018750000000000003,
        [
          ['product.price * 2', -0.325],
          ['product.rating', 0.34375],
        ],
      ],
      ['margin', undefined, 'sum', undefined, -1, [['product.price', 10]]],
      ['fresh', undefined, 'sum', undefined, 0, [['if(product.age < 5, 1, 0)', 0]]],
    ]);
  });

  it('show the values of the parts of an expression that is no sum', async () => {
    project = await startProject(FILES);
    const { page } = await explain('ranking', { candidates: CANDIDATES, boost: 2 });
    const c = page.find(({ candidate_id: id }) => id === 'c')?.contributions ?? [];
    expect(c[0]?.terms?.[1]).to.deep.equal({
      text: 'coalesce(product.age, 7)',
      value: 7,
      status: 'present',
      parts: [{ text: 'product.age', value: null, status: 'missing_entity' }],
      amount: 7,
      weight: 1,
    });
  });

  it('tell no value of a private attribute, and no weight that would tell it', async () => {
    const pipeline = `pipeline: ranking
rank: product
request: { user: user }
define: { years: "coalesce(user.age, 0)" }
components:
  - { use: linear, with: { weights: { years: 3, user.age: 5, product.price: 0.5 } } }
  - use: score
    with: { value: "2 * years + linear:score + user.age * product.price + product.rating / years" }
page: { size: 9 }
`;
    project = await startProject({
      ...RANDOM_PROJECT,
      'schemas/entities/user.yaml': 'entity: user\nattributes: { age: { type: float, private: true } }\n',
      'pipelines/ranking.yaml': pipeline,
    });
    const told = await explain(
      'ranking',
      { user: { user_id: 'u', age: 37 }, candidates: CANDIDATES.slice(0, 2) },
      ['a', 'b'],
    );
    const { page, compared } = told;
    const accounts = [...page, compared].flatMap((one) => one?.contributions ?? []);
    expect([...new Set(accounts.map(({ of }) => of))]).to.deep.equal(['score', 'linear:score']);
    const terms = accounts.flatMap((account) => account.terms ?? []);
    const isPrivate = ({ text }: { readonly text: string }): boolean => ['years', 'user.age'].includes(text);
    expect(terms.filter(isPrivate).map(({ text, value }) => [text, value])).to.deep.include.members([
      ['years', 'private'],
      ['user.age', 'private'],
    ]);
    expect(terms.filter((term) => isPrivate(term) && term.weight !== undefined)).to.deep.equal([]);
    for (const [i, text] of accounts.map((account) => JSON.stringify(account)).entries())
      expect(text, `account ${i}`).not.to.match(/:(37|0\.027\d+)\b/);
  });

  it('are sums in the text of `rank --explain --contributions`', async () => {
    project = await startProject(FILES);
    const told = await explain('ranking', { candidates: CANDIDATES.slice(1, 2), boost: 2 });
    const [, text = ''] = explanationText(told, 80).split('from -9.884879 to 13.94244\n');
    expect(text.slice(0, text.indexOf('  margin is'))).to.equal(`  score, step 6, is 13.94244 =
          9  coalesce(product.age, 7): 9
    4.94244  -0.5 · score: -9.884879
  score, step 4, is -19.88488 =
         0.5  constant
         -27  -3 · margin: 9
    4.615121  log1p(product.price): 4.615121
           4  silent:score: 4
          -2  -1 · wrong:score: 2
           0  3 · ltr:score: 0
           0  2 · fresh: 0
  wrong:score, step 3, is 2: out of order
  silent:score, step 2, is 4: its plugin does not divide it
  ltr:score, step 1, is 0 (TreeSHAP) =
    -0.01875  mean of the training rows
     0.34375  product.rating: 5
      -0.325  product.price * 2: 200
`);
  });

  it('compare two candidates at the step that put one of them below', async () => {
    const pipeline = `pipeline: ranking
rank: product
components:
  - { use: score, with: { value: 2 * product.price + product.rating } }
  - { use: boost, with: { where: product.rating > 4, add: 1 } }
  - { use: score, as: deep, top: 2, with: { value: product.age } }
  - { use: filter, with: { keep: product.age != 8 } }
page: { size: 9 }
`;
    project = await startProject({ ...RANDOM_PROJECT, 'pipelines/ranking.yaml': pipeline });
    const candidates = [
      { product_id: 'a', price: 10, rating: 3, age: 1 },
      { product_id: 'b', price: 9, rating: 5, age: 9 },
      { product_id: 'c', price: 2, rating: 4.5, age: 3 },
      { product_id: 'd', price: 1, rating: 2, age: 8 },
    ];
    const told = await explain('ranking', { candidates }, ['c', 'a']);
    const { split, difference, changed, contributions = [] } = told.compared ?? expect.fail('none');
    expect({ split, difference, changed }).to.deep.equal({
      split: { step: 3, as: 'deep', below: 'c' },
      difference: -13.5,
      changed: [{ step: 2, as: 'boost', amount: 1 }],
    });
    expect(
      contributions.map(({ value, terms }) => [value, terms?.map(({ amount }) => amount)]),
    ).to.deep.equal([[-14.5, [-16, 1.5]]]);
    expect(explanationText(told, 80)).to.contain(`
c, place 3, 9.500000, against a, place 2, 1.000000
  step 3, deep, put c below; by the scores before it:
  the scores differ by -13.5
  step 2, boost, changed that by 1
  score, step 1, is -14.5 =
    -16  2 · product.price: 2 against 10
    1.5  product.rating: 4.5 against 3
`);
    expect((await explain('ranking', { candidates }, ['b', 'a'])).compared).to.deep.include({
      difference: 8,
    });
    expect((await explain('ranking', { candidates }, ['d', 'a'])).compared).to.deep.include({
      reason: 'step 4, filter, removed `d`',
    });
    const failure = await explain('ranking', { candidates }, ['a', 'x']).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'invalid_body');
  });

  it('say that a difference is not finite', async () => {
    const pipeline =
      'pipeline: ranking\nrank: product\ncomponents:\n  - { use: score, with: { value: product.price } }\n';
    project = await startProject({ ...RANDOM_PROJECT, 'pipelines/ranking.yaml': pipeline });
    const candidates = [
      { product_id: 'a', price: 1.5e308 },
      { product_id: 'b', price: -1.5e308 },
    ];
    expect((await explain('ranking', { candidates }, ['a', 'b'])).compared?.reason).to.equal(
      'the difference of their scores is not a finite number',
    );
  });

  it('call a remainder rounding only if it is as small', async () => {
    project = await startProject({
      ...RANDOM_PROJECT,
      ...pluginFiles(
        'lossy',
        'model',
        `return { outputs: { score: 'number' }, compute({ rows }, output) {
           const { values, status } = output.number('score');
           for (const row of rows) { values[row] = 2; status[row] = Status.present; }
         }, *contributions({ rows }) { return Array.from(rows, () => ({ base: options.base, terms: [] })); } };`,
        { base: { type: 'number' } },
      ),
      'pipelines/ranking.yaml': `pipeline: ranking
rank: product
components:
  - { use: lossy, as: far, with: { base: 1.4 } }
  - { use: lossy, as: near, with: { base: 1.9999999 } }
  - { use: score, with: { value: far:score + near:score } }
`,
    });
    const text = explanationText(await explain('ranking', { candidates: CANDIDATES.slice(0, 1) }), 80);
    expect(text)
      .to.match(/0\.6 +not in the terms\n/)
      .and.match(/e-7 +rounding\n/);
  });

  it(`sum in ${draws(100)} random pipelines, to the score that each step computed`, async () => {
    const random = new Random(1);
    const count = draws(100);
    for (let from = 0; from < count; from += 50) {
      const names = Array.from({ length: Math.min(50, count - from) }, (_, i) => `r${from + i}`);
      const files = randomPipelines(names, random);
      project = await startProject({ ...RANDOM_PROJECT, ...files });
      let [accounts, pairs] = [0, 0];
      for (const name of names) {
        const body = randomRequest(random);
        const { page } = await explain(name, body);
        for (const candidate of page) {
          accounts += candidate.contributions?.length ?? 0;
          // The other may be removed.
          const other = random.pick(body.candidates).product_id;
          const isPair = other !== candidate.candidate_id;
          const { compared } = await explain(
            name,
            body,
            isPair ? [candidate.candidate_id, other] : undefined,
          );
          if (compared?.contributions !== undefined) pairs++;
          try {
            if (isPair) checkPair(compared);
            check(candidate);
          } catch (error) {
            const told = [JSON.stringify(body), files[`pipelines/${name}.yaml`], JSON.stringify(candidate)];
            throw new Error(told.join('\n'), { cause: error });
          }
        }
      }
      expect(accounts).to.be.greaterThan(names.length);
      expect(pairs).to.be.greaterThan(names.length);
      if (from + 50 < count) await project.close();
    }
  });
});
