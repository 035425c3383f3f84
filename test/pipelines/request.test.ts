import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError, type Violation } from '../../runtime/ground/api/errors.js';
import { IdList } from '../../runtime/ground/core/parse-ids.js';
import { explanationText } from '../../runtime/cli/report/explanation-text.js';
import type { Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import { idsOf, startProject, type TestProject } from '../support/project.js';

const FILES = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  stock: int
  tags: list(string)
  brand: ref(brand)
  variants: { list: { sku: string, price: float } }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request:
  candidates: { search_score: float }
  query: optional(query)
  user: user
  device: optional(string)
limits: { candidates: 5 }
components:
  - use: score
    with: { value: product.price }
page: { size: 2, max_size: 4 }
`,
};

describe('a ranking request', () => {
  let project: TestProject;
  before(async () => {
    project = await startProject(FILES);
  });
  after(() => project.close());

  async function violations(body: unknown): Promise<readonly Violation[]> {
    const error = await project.run(body as object).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    if (error === undefined) return [];
    if (error instanceof MillraceError && error.code === 'invalid_body') return error.violations;
    throw error as Error;
  }

  const user = { user_id: 'u' };

  it('reports all violations at once, each with its JSON pointer', async () => {
    const found = await violations({
      request_id: 7.5,
      user: { user_id: '' },
      query: 'laptop',
      device: 3,
      include_events: 'yes',
      candidates: [
        { product_id: 1.5 },
        { product_id: 'a', price: 'cheap', tags: ['x', 2], variants: [{ price: [] }] },
        { product_id: 'a' }, // ranked once
        'b',
        {},
      ],
    });
    expect(found.map(({ pointer }) => pointer).sort()).to.deep.equal([
      '/candidates/0/product_id',
      '/candidates/1/price',
      '/candidates/1/tags/1',
      '/candidates/1/variants/0/price',
      '/candidates/3',
      '/candidates/4/product_id',
      '/device',
      '/include_events',
      '/query',
      '/request_id',
      '/user/user_id',
    ]);
  });

  it('rejects values that are not objects or lists, too many candidates and lone surrogates', async () => {
    for (const body of [null, [], 'x', 3]) expect(await violations(body)).to.have.length(1);
    expect((await violations({ user })).map(({ pointer }) => pointer)).to.deep.equal(['/candidates']);
    const six = Array.from({ length: 6 }, (_, i) => ({ product_id: `p${i}` }));
    expect((await violations({ user, candidates: six }))[0]?.code).to.equal('too_many');
    const half = [{ product_id: 'p\ud800' }];
    expect((await violations({ user, candidates: half }))[0]?.pointer).to.equal('/candidates/0/product_id');
  });

  it('requires entities that are not optional, and accepts an empty query', async () => {
    expect((await violations({ candidates: [] })).map(({ pointer }) => pointer)).to.deep.equal(['/user']);
    expect(await violations({ candidates: [], user, query: { query: '' } })).to.deep.equal([]);
    expect(await violations({ candidates: [], user, query: null })).to.deep.equal([]);
  });

  it('ignores and counts undeclared fields, including prototype names', async () => {
    const body = JSON.parse(
      '{"user":{"user_id":"u"},"__proto__":{"x":1},"nonsense":1,"candidates":[{"product_id":"a","colour":"red","__proto__":{"price":3}},{"product_id":"b","colour":"blue"}]}',
    ) as object;
    const { ranked, report } = await project.run(body);
    expect(ranked.map((one) => one.ranked_score)).to.deep.equal([0, 0]);
    expect(Object.fromEntries(report.unknownFields)).to.deep.equal({
      nonsense: 1,
      'candidates.colour': 2,
      // As an own key it is an undeclared field like any other.
      ['__proto__']: 1,
      'candidates.__proto__': 1,
    });
    expect(({} as { x?: number }).x).to.equal(undefined);
  });

  it('ranks the first occurrence of a repeated candidate, and counts the others', async () => {
    const candidates = [
      { product_id: 'a', price: 1 },
      { product_id: 7, price: 2 },
      { product_id: 'a', price: 9 },
      { product_id: 'b', price: 3 },
      { product_id: '7', price: 9 },
    ];
    const { ranked, report } = await project.run({ user, candidates, user_page_size: 4 });
    expect(ranked).to.deep.equal([
      { candidate_id: 'b', ranked_score: 3 },
      { candidate_id: '7', ranked_score: 2 },
      { candidate_id: 'a', ranked_score: 1 },
    ]);
    expect([report.candidates, report.duplicates]).to.deep.equal([3, 2]);
    const [pipeline] = project.app.pipelines;
    const told = await pipeline?.explain({ user, candidates }, { requestId: 'r' });
    expect(told?.candidates).to.deep.equal({
      ...{ sent: 5, duplicates: { count: 2, ids: ['a', '7'] } },
      ...{ missing: 3, left: 3 },
    });
    expect(explanationText(told as Explanation, 100)).to.contain(
      'Candidates left out because their id appeared earlier: 2 (a, 7)',
    );
    // Violations of a duplicate are reported like all others.
    const wrong = [{ product_id: 'a' }, { product_id: 'a', price: 'x' }];
    expect((await violations({ user, candidates: wrong })).map(({ pointer }) => pointer)).to.deep.equal([
      '/candidates/1/price',
    ]);
  });

  it('takes a list of ids as it takes objects with an id alone', async () => {
    const outcome = async (candidates: unknown): Promise<unknown> => {
      const found = await violations({ user, candidates });
      if (found.length > 0) return found;
      const { ranked, report } = await project.run({ user, candidates });
      return [ranked, report.candidates, report.duplicates];
    };
    for (const ids of [
      ['b', 'a'],
      ['a', 'b', 'a'],
      ['a'],
      ['a', 'b', 'c', 'd', 'e', 'f'],
      Array.from('aaaaaa'),
    ]) {
      const isDistinct = new Set(ids).size === ids.length;
      const expected = await outcome(ids.map((product_id) => ({ product_id })));
      expect(await outcome(new IdList('product_id', ids, isDistinct)), ids.join()).to.deep.equal(expected);
      expect(await outcome(new IdList('product_id', ids, false)), ids.join()).to.deep.equal(expected);
      // An arm that ranks another type finds the objects without its key.
      const other = await outcome(ids.map((sku) => ({ sku })));
      expect(await outcome(new IdList('sku', ids, isDistinct)), ids.join()).to.deep.equal(other);
    }
  });

  it('pages over all candidates that were sent, including repeated ones', async () => {
    const page = (more: object) =>
      project.rank({
        user,
        candidates: ['a', 'a', 'b', 'c'].map((product_id, i) => ({ product_id, price: -i })),
        ...more,
      });
    // The second of two pages of four: the list of the client has eight candidates.
    expect(idsOf(await page({ candidate_page: 1, user_page: 2, user_page_size: 2 }))).to.deep.equal([
      'a',
      'b',
    ]);
    expect(idsOf(await page({ user_page_size: 4, candidate_page_size: 4 }))).to.deep.equal(['a', 'b', 'c']);
  });

  it('rejects a page larger than the candidate page only if the body has both sizes', async () => {
    const candidates = [{ product_id: 'a' }, { product_id: 'b' }];
    const sizes = { user_page_size: 4, candidate_page_size: 2 };
    expect(await violations({ user, candidates, ...sizes })).to.deep.equal([
      {
        pointer: '/user_page_size',
        code: 'out_of_range',
        detail: 'expected at most candidate_page_size, which is 2, found the number 4',
      },
    ]);
    for (const stated of [
      { user_page_size: 4 },
      { candidate_page_size: 1 },
      { user_page_size: null, candidate_page_size: 1 },
      { user_page_size: 2, candidate_page_size: 2 },
    ])
      expect(await violations({ user, candidates, ...stated }), JSON.stringify(stated)).to.deep.equal([]);
    expect(await violations({ user, candidates: [], ...sizes })).to.deep.equal([]);
  });

  it('rejects a repeated candidate if the pipeline says so', async () => {
    const strict = await startProject({
      ...FILES,
      'pipelines/ranking.yaml': FILES['pipelines/ranking.yaml'].replace(
        '  user: user\n',
        '  user: user\n  duplicates: refuse\n',
      ),
    });
    try {
      const candidates = [{ product_id: 7 }, { product_id: 'b' }, { product_id: '7' }];
      const error = await strict.run({ user, candidates }).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(MillraceError);
      expect((error as MillraceError).violations).to.deep.equal([
        {
          pointer: '/candidates/2/product_id',
          code: 'duplicate_id',
          detail: 'this candidate is already in the list, and the pipeline rejects duplicates',
        },
      ]);
    } finally {
      await strict.close();
    }
  });

  it('accepts exactly what its published JSON Schema accepts (property)', async () => {
    const schema = project.app.pipelines[0]?.requestSchema;
    if (schema === undefined) throw new Error('the project has no pipeline');
    const validate = new Ajv2020({ strict: false, ownProperties: true, validateFormats: false }).compile(
      schema,
    );
    const id = fc.constantFrom('a', 'b', 'c', '', 5, null);
    const value = fc.oneof(
      fc.constantFrom(1, 1.5, 'x', null, true, -1),
      fc.constant(['x']),
      fc.constant([1]),
      fc.constant({ brand_id: 'b', name: 'n' }),
      fc.constant([{ sku: 's', price: 2 }]),
      fc.constant([{ sku: 4 }]),
    );
    const candidate = fc.record(
      {
        product_id: id,
        title: value,
        price: value,
        stock: value,
        tags: value,
        brand: value,
        variants: value,
        search_score: value,
        other: value,
      },
      { requiredKeys: [] },
    );
    const body = fc.record(
      {
        candidates: fc.oneof(
          {
            weight: 9,
            arbitrary: fc.array(candidate, { maxLength: 6 }),
          },
          { weight: 1, arbitrary: value },
        ),
        user: fc.oneof({ weight: 9, arbitrary: fc.constant(user) }, { weight: 1, arbitrary: value }),
        device: value,
        user_page_size: fc.integer({ min: 0, max: 6 }),
        user_page: fc.integer({ min: -1, max: 3 }),
      },
      { requiredKeys: ['user'] },
    );
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const json = JSON.parse(JSON.stringify(sent)) as object;
        const found = await violations(json);
        expect(found.length === 0, JSON.stringify({ json, found, ajv: validate.errors })).to.equal(
          validate(json),
        );
      }),
      { numRuns: 500 },
    );
  });
});
