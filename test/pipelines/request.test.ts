import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError, type Violation } from '../../runtime/api/errors.js';
import { startProject, type TestProject } from '../support/project.js';

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

  it('tells every violation at once, each with its JSON pointer', async () => {
    const found = await violations({
      request_id: 7.5,
      user: { user_id: '' },
      query: 'laptop',
      device: 3,
      include_events: 'yes',
      candidates: [
        { product_id: 1.5 },
        { product_id: 'a', price: 'cheap', tags: ['x', 2], variants: [{ price: [] }] },
        { product_id: 'a' },
        'b',
        {},
      ],
    });
    expect(found.map(({ pointer }) => pointer).sort()).to.deep.equal([
      '/candidates/0/product_id',
      '/candidates/1/price',
      '/candidates/1/tags/1',
      '/candidates/1/variants/0/price',
      '/candidates/2/product_id',
      '/candidates/3',
      '/candidates/4/product_id',
      '/device',
      '/include_events',
      '/query',
      '/request_id',
      '/user/user_id',
    ]);
  });

  it('refuses what is no object, no list, too many candidates and half a surrogate pair', async () => {
    for (const body of [null, [], 'x', 3]) expect(await violations(body)).to.have.length(1);
    expect((await violations({ user })).map(({ pointer }) => pointer)).to.deep.equal(['/candidates']);
    const six = Array.from({ length: 6 }, (_, i) => ({ product_id: `p${i}` }));
    expect((await violations({ user, candidates: six }))[0]?.code).to.equal('too_many');
    const half = [{ product_id: 'p\ud800' }];
    expect((await violations({ user, candidates: half }))[0]?.pointer).to.equal('/candidates/0/product_id');
  });

  it('wants the entities that are not optional, and takes an empty query', async () => {
    expect((await violations({ candidates: [] })).map(({ pointer }) => pointer)).to.deep.equal(['/user']);
    expect(await violations({ candidates: [], user, query: { query: '' } })).to.deep.equal([]);
    expect(await violations({ candidates: [], user, query: null })).to.deep.equal([]);
  });

  it('ignores and counts what nothing declares, prototypes too', async () => {
    const body = JSON.parse(
      '{"user":{"user_id":"u"},"__proto__":{"x":1},"nonsense":1,"candidates":[{"product_id":"a","colour":"red","__proto__":{"price":3}},{"product_id":"b","colour":"blue"}]}',
    ) as object;
    const { ranked, report } = await project.run(body);
    expect(ranked.map((one) => one.ranked_score)).to.deep.equal([0, 0]);
    expect(Object.fromEntries(report.unknownFields)).to.deep.equal({
      nonsense: 1,
      'candidates.colour': 2,
      // As an own key it is a field like any other that nothing declares.
      ['__proto__']: 1,
      'candidates.__proto__': 1,
    });
    expect(({} as { x?: number }).x).to.equal(undefined);
  });

  it('takes exactly what its published JSON Schema takes (property)', async () => {
    const schema = project.app.pipelines[0]?.requestSchema;
    if (schema === undefined) throw new Error('there is a pipeline');
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
            arbitrary: fc.uniqueArray(candidate, { maxLength: 6, selector: (one) => one.product_id }),
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
