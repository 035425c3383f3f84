import { expect } from 'chai';
import * as fc from 'fast-check';
import { ProjectInvalidError } from '../../../../runtime/serve/app/project/compile-project.js';
import { failuresOf, runIn, SHOP } from '../../../support/ranking-tests.js';
import { pluginFiles } from '../../../support/project.js';

const GIVEN = `test: t
pipeline: search
time: 2026-01-31T12:00Z
given:
  entities:
    product:
      - { product_id: p1, price: 10, number_in_stock: 0, rating: 5 }
      - { product_id: p2, price: 10, number_in_stock: 3 }
      - { product_id: free, price: 0 }
  features: { product_stats: [{ product_id: p1, ctr_30d: 0.5 }] }
  outputs: { ltr:score: { p1: 2, p2: 1 } }
request: { candidates: [{ product_id: p1 }, { product_id: p2 }, { product_id: free }] }
`;

async function failures(expected: string, more = ''): Promise<Record<string, readonly string[]>> {
  return failuresOf(await runIn({ ...SHOP, 'tests/t.yaml': `${GIVEN}expect: ${expected}\n${more}` }));
}

describe('an expectation', () => {
  it('that holds is no failure', async () => {
    const found = await failures(`
  order: [p2, p1]
  first: [p2]
  scores: { p1: 3.75, p2: 1 } # 2.5 * 1.5
  positions: { p1: 2 }
  removed: { free: priced }
  moved: { p1: [liked, bury], p2: [] }
  statuses: { product_stats:ctr_30d: { p1: present, p2: missing_feature }, request.device: absent }
  values: { ltr:score: { p1: 2, free: null }, product.rating: { p1: 5, p2: null } }
  degraded: []`);
    expect(found).to.deep.equal({});
  });

  const WRONG: readonly (readonly [expected: string, message: string])[] = [
    ['{ order: [p1, p2] }', 'place 1: expected p1, found p2'],
    ['{ order: [p2] }', 'place 2: expected no more candidates, found p1'],
    ['{ order: [p2, p1, free] }', 'place 3: expected free, found no more candidates'],
    ['{ order: [] }', 'place 1: expected no more candidates, found p2'],
    ['{ first: [p1] }', 'place 1: expected p1, found p2'],
    ['{ scores: { p2: 1.00001 } }', 'the score of p2: expected 1.00001, found 1'],
    ['{ scores: { p2: null } }', 'the score of p2: expected no score, found 1'],
    ['{ positions: { p1: 1 } }', 'the position of p1: expected 1, found 2'],
    ['{ positions: { free: 3 } }', 'the position of free: expected 3, a filter removed it'],
    ['{ removed: [p1, free] }', 'expected that a filter removes p1, found it at place 2'],
    ['{ removed: [] }', 'priced (step 1) removed free, which is not in the list'],
    ['{ moved: { p1: bury } }', 'what moved p1: expected bury, found liked (step 4), bury (step 5)'],
    [
      '{ moved: { p1: [bury, liked] } }',
      'what moved p1: expected bury, liked, found liked (step 4), bury (step 5)',
    ],
    ['{ moved: { p2: [4] } }', 'what moved p2: expected 4, found no rule'],
    [
      '{ statuses: { product.rating: { p2: present } } }',
      'the status of product.rating of p2: expected present, found absent',
    ],
    ['{ values: { product.price: { p1: 9 } } }', 'the value of product.price of p1: expected 9, found 10'],
    [
      '{ values: { product.rating: { p2: 1 } } }',
      'the value of product.rating of p2: expected 1, found no value (absent)',
    ],
    ['{ degraded: [unscored=1/2] }', 'why the answer is degraded: expected unscored=1/2, found nothing'],
    ['{ error: invalid_body }', 'expected the error invalid_body, but the request was answered'],
  ];
  for (const [expected, message] of WRONG)
    it(`that does not hold is a failure: ${expected}`, async () => {
      expect(await failures(expected)).to.deep.equal({ t: [message] });
    });

  it('takes the tolerance of its case', async () => {
    expect(await failures('{ scores: { p2: 1.01 }, tolerance: 0.02 }')).to.deep.equal({});
  });

  it('of a score and its answer holds or fails', async () => {
    const test = (expected: string): string =>
      `test: t\npipeline: worth\ngiven: { entities: { product: [{ product_id: p, rating: 3, price: 20 }] } }\nrequest: { product: { product_id: p } }\nexpect: ${expected}\n`;
    const found = async (expected: string): Promise<unknown> =>
      failuresOf(await runIn({ ...SHOP, 'tests/t.yaml': test(expected) }));
    expect(await found('{ score: 6, answer: { dear: true } }')).to.deep.equal({});
    expect(await found('{ score: 5 }')).to.deep.equal({ t: ['the score: expected 5, found 6'] });
    expect(await found('{ answer: { dear: false } }')).to.deep.equal({
      t: ['the value of dear: expected false, found 1'],
    });
    expect(
      await found(
        '{ score: 6 }\ncases: [{ name: none, request: { product: { product_id: q } }, expect: { score: null, degraded: [unscored=1/1] } }]',
      ),
    ).to.deep.equal({});
  });

  it('of an error compares code, pointer and detail', async () => {
    const cases = `cases:
  - { name: code, request: { query: tv }, expect: { error: invalid_body } }
  - { name: pointer, request: { query: tv }, expect: { error: { code: invalid_body, pointer: /query } } }
  - { name: other, request: { query: tv }, expect: { error: { code: invalid_body, pointer: /user, detail: nothing } } }
  - { name: another code, request: { query: tv }, expect: { error: overloaded } }
`;
    const found = await failures('{ order: [p2, p1] }', cases);
    expect(Object.keys(found)).to.deep.equal(['t > other', 't > another code']);
    expect(found['t > other']?.[0]).to.equal('expected a violation at /user, found /query');
    expect(found['t > other']?.[1]).to.match(/^expected a detail with "nothing", found: /);
  });
});

describe('the runner', () => {
  it('ranks by the outputs that stand for a model, whatever they are', async () => {
    const scores = fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(scores, async (values) => {
        const ids = values.map((_, i) => `c${i}`);
        const best = [...ids].sort((a, b) => (values[ids.indexOf(b)] ?? 0) - (values[ids.indexOf(a)] ?? 0));
        const test = (order: readonly string[]): string =>
          `test: t\npipeline: search\ngiven: { outputs: { ltr:score: { ${ids.map((id, i) => `${id}: ${values[i]}`).join(', ')} } } }\n` +
          `request: { candidates: [${ids.map((id) => `{ product_id: ${id} }`).join(', ')}] }\nexpect: { order: [${order.join(', ')}] }\n`;
        const found = async (order: readonly string[]): Promise<string[]> =>
          Object.keys(failuresOf(await runIn({ ...SHOP, 'tests/t.yaml': test(order) })));
        expect(await found(best)).to.deep.equal([]);
        expect(await found([...best].reverse())).to.deep.equal(['t']);
      }),
      { numRuns: 10 },
    );
  });

  it('gives rows without a time the time of the file, also in a case of another time', async () => {
    const found = await failures(
      '{ statuses: { product_stats:ctr_30d: { p1: present } } }',
      'cases:\n  - { name: late, time: 2026-02-08, expect: { statuses: { product_stats:ctr_30d: { p1: expired } } } }\n  - { name: soon, time: 2026-02-07 }\n',
    );
    expect(found).to.deep.equal({});
  });

  it('reads the clock of the case in expressions', async () => {
    const pipeline =
      'pipeline: age\nrank: product\nrequest: { candidates: { at: timestamp } }\ncomponents:\n  - use: score\n    with: { value: age_days(product.at) }\n';
    const test =
      'test: t\npipeline: age\ntime: 2026-01-31\nrequest: { candidates: [{ product_id: p, at: 2026-01-21 }] }\nexpect: { scores: { p: 10 } }\n';
    expect(failuresOf(await runIn({ 'pipelines/age.yaml': pipeline, 'tests/t.yaml': test }))).to.deep.equal(
      {},
    );
  });

  it('keeps ids with leading zeros, and takes numbers as ids', async () => {
    const test =
      'test: t\npipeline: search\ngiven: { entities: { product: [{ product_id: 007, price: 1 }, { product_id: 7, price: 1 }] }, outputs: { ltr:score: { 007: 2, 7: 1 } } }\nrequest: { candidates: [{ product_id: 7 }, { product_id: 007 }] }\nexpect: { order: [007, 7], scores: { 007: 2, 7: 1 } }\n';
    expect(failuresOf(await runIn({ ...SHOP, 'tests/t.yaml': test }))).to.deep.equal({});
  });

  it('does not mix the data of cases', async () => {
    const found = await failures(
      '{ scores: { p1: 3.75 } }',
      'cases:\n  - { name: no data, given: { entities: null, features: null }, expect: { scores: { p1: 2 }, statuses: { product.price: { p1: missing_entity } } } }\n  - { name: no model, given: { outputs: { ltr:score: null } }, expect: { scores: { p1: 3.75 } } }\n',
    ).catch((error: unknown) => error);
    // Without stubs the model is needed, and its file does not exist.
    expect(found).to.be.instanceOf(ProjectInvalidError);
    expect((found as ProjectInvalidError).diagnostics.map(({ message }) => message)).to.have.length(1);
    const other = await failures(
      '{ scores: { p1: 3.75 } }',
      'cases:\n  - { name: no data, given: { entities: null, features: null }, expect: { scores: { p1: 2 }, statuses: { product.price: { p1: missing_entity } } } }\n  - { name: again }\n',
    );
    expect(other).to.deep.equal({});
  });

  it('has no time limit, and runs no effect', async () => {
    const files = {
      ...pluginFiles(
        'slow',
        'rule',
        'return { apply: async () => { await new Promise((done) => setTimeout(done, 30)); return { applied: 0, skipped: 0 }; } };',
      ),
      ...pluginFiles('effect', 'effect', "return { run() { throw new Error('an effect ran'); } };"),
      'pipelines/late.yaml':
        'pipeline: late\nrank: product\nlimits: { time: 1ms }\ncomponents:\n  - use: slow\n  - use: effect\n',
      'tests/t.yaml':
        'test: t\npipeline: late\nrequest: { candidates: [{ product_id: p }] }\nexpect: { order: [p], degraded: [] }\n',
    };
    expect(failuresOf(await runIn(files))).to.deep.equal({});
  });

  it('runs only the cases that -g names', async () => {
    const text = `${GIVEN}expect: { order: [p1] }\ncases:\n  - { name: kiosk, expect: { order: [p2, p1] } }\n`;
    const run = await runIn({ ...SHOP, 'tests/t.yaml': text }, { grep: 'kiosk' });
    expect(failuresOf(run)).to.deep.equal({});
    expect([run.results.length, run.skipped]).to.deep.equal([1, 1]);
  });

  it('reads the rows of a view that Feast stores', async () => {
    const view = 'view: fed\nof: [product]\nsource: { feast: { project: shop } }\nfeatures: { ctr: float }\n';
    const pipeline =
      'pipeline: fed\nrank: product\nfeatures: [fed]\ncomponents:\n  - use: score\n    with: { value: "fed:ctr" }\n';
    const test =
      'test: t\npipeline: fed\ngiven: { features: { fed: [{ product_id: p, ctr: 0.5 }] } }\nrequest: { candidates: [{ product_id: p }] }\nexpect: { scores: { p: 0.5 } }\n';
    const files = { 'schemas/features/fed.yaml': view, 'pipelines/fed.yaml': pipeline, 'tests/t.yaml': test };
    expect(failuresOf(await runIn(files))).to.deep.equal({});
  });
});
