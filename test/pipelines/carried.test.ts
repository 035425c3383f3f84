import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import { exampleOf } from '../../runtime/serve/http/openapi/example.js';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

/** Attributes that a request carries for its entities, at every depth. */

const SCHEMAS = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  price: float
  stock: int
  title: string
  live: bool
  tags: list(string)
  taste: vector(2)
  size: { record: { width: float, height: float, maker: ref(brand) } }
  brand: ref(brand)
  similar: list(ref(product))
  variants: { list: { sku: string, price: float, seller: ref(brand) } }
`,
  'schemas/entities/brand.yaml':
    'entity: brand\nkey: code\nattributes: { name: string, rating: float, owner: ref(brand), tags: list(string) }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { age: int, favourite: ref(brand) }\n',
  'schemas/entities/request.yaml':
    'entity: request\nattributes: { channel: string, depth: int, shop: ref(brand) }\n',
};

const pipeline = (value: string, request = ''): string => `pipeline: ranking
rank: product
request:
  candidates: { search_score: float, home: ref(brand) }
  user: optional(user)
  friend: optional(user)
  device: optional(string)
  limit: optional(int)
${request}
components:
  - use: score
    with: { value: '${value}' }
`;

describe('attributes that a request carries', () => {
  let project: TestProject | undefined;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  async function start(value: string, request = ''): Promise<TestProject> {
    project = await startProject({ ...SCHEMAS, 'pipelines/ranking.yaml': pipeline(value, request) });
    await project.upload(
      'product',
      {
        product_id: 'p',
        price: 10,
        stock: 5,
        title: 'indexed',
        live: true,
        tags: ['a', 'b'],
        taste: [1, 2],
        size: { width: 3, height: 4, maker: 'x' },
        brand: 'x',
        similar: ['q', 'r'],
        variants: [{ sku: 's', price: 7, seller: 'x' }],
      },
      { product_id: 'q', price: 20, brand: 'y' },
      { product_id: 'r', price: 30, brand: 'x', similar: ['p'] },
    );
    await project.upload(
      'brand',
      { code: 'x', name: 'X', rating: 1, owner: 'y', tags: ['t', 'u'] },
      { code: 'y', name: 'Y', rating: 2, owner: 'x', tags: [] },
    );
    await project.upload('user', { user_id: 'u', age: 30, favourite: 'x' }, { user_id: 'v', age: 50 });
    return project;
  }

  async function scoreOf(value: string, candidate: object, more: object = {}): Promise<number | undefined> {
    const { rank } = await start(value);
    const scores = scoresOf(await rank({ candidates: [{ product_id: 'p', ...candidate }], ...more }));
    await project?.close();
    project = undefined;
    return scores.p;
  }

  async function violationsOf(service: TestProject, body: object): Promise<[string, string][]> {
    const error = await service.rank(body).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    if (error === undefined) return [];
    if (!(error instanceof MillraceError)) throw error as Error;
    return error.violations.map(({ pointer, code }) => [pointer, code]);
  }

  const cases: readonly (readonly [string, string, object, number])[] = [
    ['an empty list overrides the index', 'count(product.tags)', { tags: [] }, 0],
    ['a null list is filled', 'count(product.tags)', { tags: null }, 2],
    ['a list overrides the index as a whole', 'count(product.tags)', { tags: ['z'] }, 1],
    [
      'single fields of a record override the index',
      'product.size.width * 100 + product.size.height',
      { size: { width: 0 } },
      4,
    ],
    ['a reference in a record', 'product.size.maker.rating', { size: { maker: { code: 'y' } } }, 2],
    ['its other spelling', 'product.size.maker.rating', { size: { maker_id: 'y' } }, 2],
    [
      'an inline value two references deep',
      'product.brand.owner.rating',
      { brand: { owner: { rating: 0 } } },
      0,
    ],
    ['the rest of it from the index', 'product.brand.owner.rating', { brand: { owner: { name: 'N' } } }, 2],
    ['another id two references deep', 'product.brand.owner.rating', { brand: { owner: { code: 'x' } } }, 1],
    ['a reference that only candidates have', 'product.home.rating', { home: 'y' }, 2],
    [
      'an inline reference',
      'product.home.rating + count(product.home.tags)',
      { home_id: 'x', home: { rating: 9 } },
      11,
    ],
    [
      'inline elements of a list of references',
      'sum(product.similar.price)',
      { similar: ['q', { product_id: 'r', price: 1 }] },
      21,
    ],
    ['elements without an id', 'sum(product.similar.price)', { similar: [{ price: 1 }, 'q'] }, 21],
    [
      'inline references below a list of references',
      'sum(product.similar.brand.rating)',
      { similar: ['q', { product_id: 'r', brand: { rating: 7 } }] },
      9,
    ],
    [
      'inline references in a list of records',
      'sum(product.variants.seller.rating)',
      { variants: [{ seller: { rating: 5 } }, { seller_id: 'y' }, {}] },
      7,
    ],
    [
      'a list of records overrides the index as a whole',
      'coalesce(sum(product.variants.price), -1)',
      { variants: [] },
      0,
    ],
    [
      'an entity reached by two paths is the same on both',
      'product.brand.rating * 10 + product.size.maker.rating',
      { brand: { rating: 5 } },
      51,
    ],
    ['a reference to itself', 'sum(product.similar.price)', { similar: ['p', 'p'], price: 1 }, 20],
  ];

  for (const [name, value, candidate, expected] of cases) {
    it(name, async () => {
      expect(await scoreOf(value, candidate)).to.equal(expected);
    });
  }

  it('uses a vector and a false of the request instead of those of the index', async () => {
    expect(await scoreOf('if(product.live, 1, 2)', { live: false })).to.equal(2);
    expect(await scoreOf('if(product.title == "", 1, 2)', { title: '' })).to.equal(1);
    expect(await scoreOf('if(known(product.live), 1, 2)', { live: null })).to.equal(1);
  });

  it('distinguishes two entities of one type and their references', async () => {
    const value =
      'user.age * 1000 + friend.age + coalesce(user.favourite.rating, 0) + coalesce(friend.favourite.rating, 0)';
    expect(await scoreOf(value, {}, { user: { user_id: 'u' }, friend: { user_id: 'v' } })).to.equal(30051);
    expect(await scoreOf(value, {}, { user: { user_id: 'v' }, friend: { user_id: 'u' } })).to.equal(50031);
    expect(await scoreOf(value, {}, { user: { user_id: 'u', age: 0 }, friend: { user_id: 'u' } })).to.equal(
      32,
    );
    expect(await scoreOf('coalesce(friend.age, -1)', {}, { user: { user_id: 'u' }, friend: null })).to.equal(
      -1,
    );
  });

  it('fills the request entity from the index, and reads its attributes from the body', async () => {
    const { upload, rank } = await start('request.depth + coalesce(request.shop.rating, 0)');
    await upload('request', { request_id: 'r1', depth: 3, shop: 'y' });
    const first = async (more: object): Promise<number | undefined> =>
      (await rank({ candidates: [{ product_id: 'p' }], request_id: 'r1', ...more }))[0]?.ranked_score;
    expect(await first({})).to.equal(5);
    expect(await first({ depth: 0 })).to.equal(2);
    expect(await first({ shop_id: 'x' })).to.equal(4);
    expect(await first({ shop: { rating: 40 } })).to.equal(43);
    expect(await first({ request_id: 'r2', depth: 7 })).to.equal(7);
  });

  it('accepts either spelling of a required reference', async () => {
    const service = await start('request.site.rating', '  site: ref(brand)');
    const schema = service.app.pipelines[0]?.requestSchema ?? {};
    const fits = new Ajv2020({ strict: false }).compile(schema);
    const accepted: readonly (readonly [object, number])[] = [
      [{ site: 'x' }, 1],
      [{ site_id: 'x' }, 1],
      [{ site: 'y', site_id: 'y' }, 2],
      [{ site: { code: 'y' } }, 2],
      [{ site_id: 'x', site: { rating: 40 } }, 40],
    ];
    for (const [site, score] of accepted) {
      const body = { candidates: [{ product_id: 'p' }], ...site };
      expect((await service.rank(body))[0]?.ranked_score, JSON.stringify(site)).to.equal(score);
      expect(fits(body), JSON.stringify(site)).to.equal(true);
    }
    const refused: readonly (readonly [object, string, string])[] = [
      [{}, '/site', 'missing'],
      [{ site: null, site_id: null }, '/site', 'missing'],
      [{ site: 'x', site_id: 'y' }, '/site_id', 'conflicting_reference'],
      [{ site_id: 5.5 }, '/site_id', 'wrong_type'],
    ];
    for (const [site, pointer, code] of refused) {
      const body = { candidates: [{ product_id: 'p' }], ...site };
      expect(await violationsOf(service, body), JSON.stringify(site)).to.deep.equal([[pointer, code]]);
      // A JSON Schema cannot express that two ids must be equal.
      expect(fits(body), JSON.stringify(site)).to.equal(code === 'conflicting_reference');
    }
    expect(fits(exampleOf(schema))).to.equal(true);
  });

  it('accepts whole numbers as ids at every depth, indexed and carried', async () => {
    const service = await start(
      'product.brand.rating + sum(product.variants.seller.rating) + sum(product.similar.price) + user.favourite.rating + product.size.maker.rating',
    );
    const brands = [3, 4].map((code) => ({ code, rating: code / 10, tags: [] }));
    await service.upload('brand', ...brands);
    const product = {
      product_id: 7,
      brand: 3,
      variants: [{ seller: 3 }, { seller_id: 4 }],
      similar: [8, '8', 'q'],
      size: { maker: 4 },
    };
    await service.upload('product', product, { product_id: 8, price: 100 });
    await service.upload('user', { user_id: 5, favourite_id: 4 });
    const expected = { 7: 0.3 + 0.7 + 220 + 0.4 + 0.4 };
    const carried = { ...product, similar: [{ product_id: 8 }, 8, 'q'], size: { maker: { code: 4 } } };
    for (const body of [
      { candidates: [{ product_id: 7 }], user: { user_id: 5 } },
      { candidates: [{ product_id: '7' }], user: { user_id: '5' } },
      { candidates: [{ product_id: 7, brand_id: 3 }], user: { user_id: 5, favourite: 4 } },
      { candidates: [carried], user: { user_id: 5, favourite: { code: 4 }, favourite_id: '4' } },
    ]) {
      const scores = scoresOf(await service.rank(body));
      expect(Object.keys(scores)).to.deep.equal(['7']);
      expect(scores[7]).to.be.closeTo(expected[7], 1e-9);
    }
    const conflict = { product_id: 7, brand: 3, brand_id: '4' };
    expect(await violationsOf(service, { candidates: [conflict] })).to.deep.equal([
      ['/candidates/0/brand_id', 'conflicting_reference'],
    ]);
  });

  it('rejects an invalid id at every depth and in both spellings', async () => {
    const service = await start('count(product.variants.seller.name)');
    const half = 'b\ud800';
    const found = await violationsOf(service, {
      candidates: [
        { product_id: 'a', brand_id: { code: 'x' } },
        { product_id: 'b', brand_id: 5.5 },
        { product_id: 'c', variants: [{ seller_id: half }, { seller: half }, { seller_id: 5.5 }] },
        { product_id: 'd', size: { maker: { code: half } } },
        { product_id: 'e', similar: [half, null, { product_id: '' }] },
        { product_id: 'f', brand: { code: 'x' }, brand_id: 'y' },
        { product_id: 'g', variants: [{ seller: { code: 'x' }, seller_id: 'y' }] },
        { product_id: 'h', size: { maker: 'x', maker_id: 'x' } },
      ],
    });
    expect(found).to.deep.equal([
      ['/candidates/0/brand_id', 'wrong_type'],
      ['/candidates/1/brand_id', 'wrong_type'],
      ['/candidates/2/variants/0/seller_id', 'wrong_type'],
      ['/candidates/2/variants/1/seller', 'wrong_type'],
      ['/candidates/2/variants/2/seller_id', 'wrong_type'],
      ['/candidates/3/size/maker/code', 'invalid_id'],
      ['/candidates/4/similar/0', 'wrong_type'],
      ['/candidates/4/similar/1', 'wrong_type'],
      ['/candidates/4/similar/2/product_id', 'invalid_id'],
      ['/candidates/5/brand_id', 'conflicting_reference'],
      ['/candidates/6/variants/0/seller_id', 'conflicting_reference'],
    ]);
  });

  it('rejects two meanings of a name in the body', async () => {
    for (const field of ['channel: optional(string)', 'depth: optional(user)', 'shop_id: optional(string)']) {
      const error: unknown = await start('1', `  ${field}`).catch((caught: unknown) => caught);
      if (!(error instanceof ProjectInvalidError)) throw new Error(`${field} was not rejected`);
      expect(error.diagnostics.map(({ code }) => code)).to.include('duplicate_name');
    }
  });

  it('rejects references that are nested too deeply', async () => {
    const service = await start('product.brand.rating');
    let brand: object = { rating: 1 };
    for (let i = 0; i < 20; i++) brand = { owner: brand };
    const found = await violationsOf(service, { candidates: [{ product_id: 'p', brand }] });
    expect(found.map(([, code]) => code)).to.deep.equal(['too_deep']);
  });

  const strange = {
    surprise: 1,
    shop: { code: 'x', surprise: 1 },
    user: { user_id: 'u', surprise: 1 },
    candidates: [
      { product_id: 'p', surprise: 1, brand: { surprise: 1 } },
      { product_id: 'q', variants: [{ sku: 's', surprise: 1 }], size: { surprise: 1 } },
    ],
  };

  it('counts undeclared fields at every depth', async () => {
    const { run } = await start('product.price');
    const { report } = await run(strange);
    expect(Object.fromEntries(report.unknownFields)).to.deep.equal({
      surprise: 1,
      'shop.surprise': 1,
      'user.surprise': 1,
      'candidates.surprise': 1,
      'candidates.brand.surprise': 1,
      'candidates.variants.surprise': 1,
      'candidates.size.surprise': 1,
    });
  });

  it('unknown: refuse reports each unknown field with its pointer, and the published schema rejects the same fields', async () => {
    const service = await start('product.price', '  unknown: refuse');
    expect((await violationsOf(service, strange)).sort()).to.deep.equal(
      [
        '/candidates/0/brand/surprise',
        '/candidates/0/surprise',
        '/candidates/1/size/surprise',
        '/candidates/1/variants/0/surprise',
        '/shop/surprise',
        '/surprise',
        '/user/surprise',
      ].map((pointer) => [pointer, 'unknown_field']),
    );
    const schema = service.app.pipelines[0]?.requestSchema ?? {};
    const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema);
    const places = (validate(strange), validate.errors ?? [])
      .filter(({ keyword }) => keyword === 'additionalProperties')
      .map(({ instancePath }) => instancePath);
    expect([...new Set(places)].sort()).to.deep.equal([
      '',
      '/candidates/0',
      '/candidates/0/brand',
      '/candidates/1/size',
      '/candidates/1/variants/0',
      '/shop',
      '/user',
    ]);
    const good = {
      request_id: null,
      user_page: null,
      include_events: null,
      channel: 'web',
      depth: null,
      shop_id: 'x',
      device: 'kiosk',
      friend: null,
      candidates: [{ product_id: 'p', brand_id: 'x', variants: [{ seller_id: 'x' }], home: { name: 'h' } }],
    };
    expect(await violationsOf(service, good)).to.deep.equal([]);
    expect(validate(good), JSON.stringify(validate.errors)).to.equal(true);
  });
});
