import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import { idsOf, scoresOf, startProject, type TestProject } from '../support/project.js';

/** Bugs of earlier services of this kind; each test would fail there. */

const product = `
entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  stock: int
  organic: bool
  brand: ref(brand)
  similar: list(ref(product))
  variants:
    list: { sku: string, seller: ref(brand), price: float }
`;
const brand = `
entity: brand
attributes: { name: string, rating: float, owner: ref(brand) }
`;
const productStats =
  'view: product_stats\nof: [product]\nfeatures: { ctr: float, clicks: { type: int, default: 7 } }\n';
const brandStats = 'view: brand_stats\nof: [brand]\nfeatures: { ctr: float }\n';

const SCHEMAS = {
  'schemas/entities/product.yaml': product,
  'schemas/entities/brand.yaml': brand,
  'schemas/features/product_stats.yaml': productStats,
  'schemas/features/brand_stats.yaml': brandStats,
};

/** A pipeline with the given components, as YAML list items. */
function pipeline(components: string, more = ''): Record<string, string> {
  return {
    ...SCHEMAS,
    'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request:
  candidates: { search_score: float }
  user: optional(user)
${more}
components:
${components}
page: { size: 10, max_size: 50 }
`,
  };
}

const score = (value: string): string => `  - use: score\n    with: { value: "${value}" }`;
const candidates = (...ids: string[]): { product_id: string }[] => ids.map((product_id) => ({ product_id }));

describe('regressions of earlier services', () => {
  let project: TestProject | undefined;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  async function start(files: Record<string, string>): Promise<TestProject> {
    project = await startProject(files);
    return project;
  }

  async function refused(files: Record<string, string>): Promise<ProjectInvalidError> {
    try {
      await start(files);
    } catch (error) {
      if (error instanceof ProjectInvalidError) return error;
      throw error;
    }
    throw new Error('the project was not rejected');
  }

  describe('1: features belong to an entity, not to a bare id', () => {
    it('distinguishes product 1 and brand 1', async () => {
      const features = 'features:\n  - product_stats\n  - by_brand: brand_stats(product.brand)';
      const { upload, push, rank } = await start(
        pipeline(score('product_stats:ctr * 10 + by_brand:ctr'), features),
      );
      await upload('product', { product_id: '1', brand: '1' }, { product_id: '2', brand: '1' });
      await push('product_stats', { product_id: '1', ctr: 0.5 }, { product_id: '2', ctr: 0.25 });
      await push('brand_stats', { brand_id: '1', ctr: 3 });
      expect(scoresOf(await rank({ candidates: candidates('1', '2') }))).to.deep.equal({ '1': 8, '2': 5.5 });
    });
  });

  describe('2: a feature that a rule needs is fetched, and a misspelled one is an error at load', () => {
    it('fetches features that only a rule reads', async () => {
      const boost = '  - use: boost\n    with: { where: "product_stats:ctr > 0.3", add: 1 }';
      const { push, rank } = await start(pipeline(boost, 'features: [product_stats]'));
      await push('product_stats', { product_id: 'b', ctr: 0.5 });
      expect(idsOf(await rank({ candidates: candidates('a', 'b') }))).to.deep.equal(['b', 'a']);
    });

    it('reports the place of a misspelled feature and the nearest name', async () => {
      const boost = '  - use: boost\n    with: { where: "product_stats:crt > 0.3", add: 1 }';
      const { diagnostics } = await refused(pipeline(boost, 'features: [product_stats]'));
      const [first] = diagnostics.filter(({ severity }) => severity === 'error');
      expect(first?.code).to.equal('unknown_feature');
      expect(first?.help).to.contain('product_stats:ctr'.split(':')[1]);
      expect(first?.at.file.text.slice(first.at.start, first.at.end)).to.contain('product_stats:crt');
    });

    it('requires a declaration of every view that is used', async () => {
      const { diagnostics } = await refused(pipeline(score('product_stats:ctr')));
      expect(diagnostics.map(({ code }) => code)).to.include('view_not_required');
    });
  });

  describe('4: nested hydration', () => {
    it('terminates on a cycle, reads each entity once, and makes one round trip for each level', async () => {
      const { upload, run } = await start(pipeline(score('coalesce(product.brand.owner.owner.rating, 0)')));
      await upload('product', { product_id: 'p', brand: 'x' }, { product_id: 'q', brand: 'y' });
      await upload(
        'brand',
        { brand_id: 'x', rating: 1, owner: 'y' },
        { brand_id: 'y', rating: 2, owner: 'x' },
      );
      const { ranked, report } = await run({ candidates: candidates('p', 'q') });
      expect(scoresOf(ranked)).to.deep.equal({ p: 1, q: 2 });
      expect(report.keysRead).to.equal(4);
      expect(report.roundTrips).to.equal(2);
    });

    it('follows lists of references and references in lists of records', async () => {
      const value = 'sum(product.similar.price) + 100 * max(product.variants.seller.rating)';
      const { upload, rank } = await start(pipeline(score(value)));
      await upload(
        'product',
        {
          product_id: 'a',
          similar: ['b', 'c', 'gone'],
          variants: [{ sku: 's', seller: 'x' }, { seller_id: 'y' }],
        },
        { product_id: 'b', price: 3 },
        { product_id: 'c', price: 4 },
      );
      await upload('brand', { brand_id: 'x', rating: 2 }, { brand_id: 'y', rating: 5 });
      expect(scoresOf(await rank({ candidates: candidates('a') }))).to.deep.equal({ a: 507 });
    });

    it('keeps nested objects of the request, and fills their other attributes', async () => {
      const { upload, rank } = await start(
        pipeline(score('product.brand.rating + if(product.brand.name == \\"sent\\", 10, 0)')),
      );
      await upload('product', { product_id: 'a', brand: 'x' }, { product_id: 'b', brand: 'x' });
      await upload('brand', { brand_id: 'x', rating: 2, name: 'indexed' }, { brand_id: 'y', rating: 3 });
      const sent = [
        { product_id: 'a', brand: { name: 'sent' } },
        { product_id: 'b' },
        { product_id: 'c', brand: { brand_id: 'y', name: 'sent' } },
        { product_id: 'd', brand_id: 'y', brand: { rating: 0 } },
      ];
      expect(scoresOf(await rank({ candidates: sent }))).to.deep.equal({ c: 13, a: 12, b: 2, d: 0 });
    });

    it('rejects two different spellings of one reference', async () => {
      const { rank } = await start(pipeline(score('product.brand.rating')));
      const body = { candidates: [{ product_id: 'd', brand_id: 'y', brand: { brand_id: 'x' } }] };
      const error = await rank(body).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      if (!(error instanceof MillraceError)) throw new Error('it was not rejected');
      expect(error.violations.map(({ pointer }) => pointer)).to.deep.equal(['/candidates/0/brand_id']);
    });
  });

  describe('5: carried attributes override the index, even 0, false and ""', () => {
    it('fills only absent and null attributes', async () => {
      const value = 'product.price + if(product.organic, 100, 0) + if(product.title == \\"\\", 1000, 0)';
      const { upload, rank } = await start(pipeline(score(value)));
      for (const product_id of ['a', 'b', 'c']) {
        await upload('product', { product_id, price: 5, organic: true, title: 'indexed' });
      }
      const sent = [
        { product_id: 'a', price: 0, organic: false, title: '' },
        { product_id: 'b', price: null },
        { product_id: 'c' },
      ];
      expect(scoresOf(await rank({ candidates: sent }))).to.deep.equal({ a: 1000, b: 105, c: 105 });
    });
  });

  describe('6: pins and boosts', () => {
    const rules = (text: string): string => `${score('product.search_score')}\n${text}`;
    const sent = [
      { product_id: 'a', search_score: 2 },
      { product_id: 'b', search_score: 0 },
      { product_id: 'c', search_score: -3 },
    ];

    it('pins position 1 to the first place, even with a score of 0, and changes no score', async () => {
      const { rank } = await start(pipeline(rules('  - use: pin\n    with: { positions: { 1: b } }')));
      const ranked = await rank({ candidates: sent });
      expect(idsOf(ranked)).to.deep.equal(['b', 'a', 'c']);
      expect(scoresOf(ranked)).to.deep.equal({ b: 2, a: 2, c: -3 });
    });

    it('never demotes a candidate with a boost, even if scores are negative', async () => {
      const { rank } = await start(pipeline(rules('  - use: boost\n    with: { multiply: 2 }')));
      expect(scoresOf(await rank({ candidates: sent }))).to.deep.equal({ a: 4, b: 0, c: 0 });
    });

    it('runs two steps of one plugin, each with its own options', async () => {
      const two = '  - use: boost\n    with: { add: 1 }\n  - use: boost\n    with: { add: 10 }';
      const { rank } = await start(pipeline(rules(two)));
      expect(scoresOf(await rank({ candidates: sent }))).to.deep.equal({ a: 13, b: 11, c: 8 });
    });
  });

  describe('7: every rule sees the order, and reordering alone changes no score', () => {
    it('logs no score change for a pin, and the real changes of a boost', async () => {
      const steps = [
        score('product.search_score'),
        '  - use: boost\n    with: { where: "product.search_score > 1", add: 1 }',
        '  - use: pin\n    with: { positions: { 1: b } }',
      ];
      const { run } = await start(pipeline(steps.join('\n')));
      const { events } = await run({
        include_events: true,
        candidates: [
          { product_id: 'b', search_score: 1 },
          { product_id: 'a', search_score: 2 },
        ],
      });
      const changes = (events as { event_type: string; event_data: Record<string, unknown> }[])
        .filter(({ event_type }) => event_type === 'BUSINESS_LOGIC')
        .map(({ event_data }) => [
          event_data.business_logic_name,
          event_data.entity_identifier,
          event_data.old_score,
          event_data.new_score,
        ]);
      expect(changes).to.deep.equal([
        ['score', 'b', 0, 1],
        ['score', 'a', 0, 2],
        ['boost', 'a', 2, 3],
      ]);
    });

    it('scopes the first rule to the best candidates, although no step sorted before it', async () => {
      const steps = `${score('product.search_score')}\n  - use: boost\n    top: 1\n    with: { add: 5 }`;
      const { rank } = await start(pipeline(steps));
      const sent = [
        { product_id: 'low', search_score: 1 },
        { product_id: 'high', search_score: 2 },
      ];
      expect(scoresOf(await rank({ candidates: sent }))).to.deep.equal({ high: 7, low: 1 });
    });
  });

  describe('8: paging', () => {
    const body = { candidates: candidates('a', 'b', 'c', 'd', 'e') };

    it('returns an empty page past the end', async () => {
      const { rank } = await start(pipeline(score('1')));
      expect(await rank({ ...body, user_page: 9, user_page_size: 2 })).to.deep.equal([]);
    });

    it('skips no candidate if page sizes do not divide evenly', async () => {
      const { rank } = await start(pipeline(score('1')));
      const pages = [];
      for (let user_page = 0; user_page < 3; user_page++) {
        pages.push(...idsOf(await rank({ ...body, user_page, user_page_size: 2 })));
      }
      expect(pages).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    });

    it('rejects a page size of 0, fractions, negative numbers and a page before the candidates', async () => {
      const { rank } = await start(pipeline(score('1')));
      for (const paging of [
        { user_page_size: 0 },
        { user_page_size: 51 },
        { user_page_size: 1.5 },
        { user_page: -1 },
        { user_page: '1' },
        { candidate_page: 1, user_page_size: 5 },
        { candidate_page_size: 0 },
      ]) {
        const error = await rank({ ...body, ...paging }).then(
          () => undefined,
          (caught: unknown) => caught,
        );
        expect((error as MillraceError | undefined)?.code, JSON.stringify(paging)).to.equal('invalid_body');
      }
    });

    it('returns an empty list for no candidates', async () => {
      const { rank } = await start(pipeline(score('1')));
      expect(await rank({ candidates: [] })).to.deep.equal([]);
      expect(await rank({ candidates: [], candidate_page_size: 0 })).to.deep.equal([]);
    });
  });

  describe('10: wrong types are an error of the upload, never of the ranking', () => {
    it('rejects the upload with position and pointer, without echoing the entity', async () => {
      const { app } = await start(pipeline(score('1')));
      const secret = 'x'.repeat(500);
      const entities = [{ product_id: 'a' }, { product_id: 'b', price: { secret } }];
      const error = await app.entities.upload({ entity_type: 'product', entities }).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      if (!(error instanceof MillraceError)) throw new Error('it was not rejected');
      expect(error.violations.map(({ pointer }) => pointer)).to.deep.equal(['/entities/1/price']);
      expect(JSON.stringify([error.message, error.violations])).not.to.contain(secret);
      const { entities: found } = await app.entities.get({ entity_type: 'product', entity_ids: ['a'] });
      expect(found.a).to.equal(null);
    });

    it('still ranks if an attribute was indexed before its declaration changed', async () => {
      const { upload, rank } = await start({
        ...pipeline(score('coalesce(product.weight, -1)')),
        'schemas/entities/product.yaml': `${product}  weight: float\n`,
      });
      await upload('product', { product_id: 'a', weight: 2 });
      expect(scoresOf(await rank({ candidates: candidates('a', 'b') }))).to.deep.equal({ a: 2, b: -1 });
    });
  });
});
