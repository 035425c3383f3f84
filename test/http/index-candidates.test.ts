import { expect } from 'chai';
import { serveFiles, type ServedProject } from '../support/served-project.js';

const FILES = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes: { title: string, price: float, brand: ref(brand), cost: { type: float, private: true } }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: optional(query) }
limits: { candidates: 40 }
components:
  - { use: score, with: { value: 0 - product.price } }
page: { size: 50 }
`,
  'pipelines/worth.yaml': `pipeline: worth
score: product
components:
  - { use: score, with: { value: product.price } }
`,
};
const ROUTE = '/api/v1/search';

interface Found {
  readonly ids: readonly string[];
  readonly header: string | null;
}

describe('candidates from the index', () => {
  let project: ServedProject;
  before(async () => {
    project = await serveFiles(FILES, undefined, { MILLRACE_INDEX_CANDIDATES: '2500' });
    const brands = [
      { brand_id: 'b0', name: 'Lumen' },
      { brand_id: 'b1', name: 'Vela' },
    ];
    await project.post('/api/v1/entities/upload', { entity_type: 'brand', entities: brands });
    await upload(0, 1000);
    await upload(1000, 2100);
  });
  after(() => project.close());

  /** Products whose price is their number; every hundredth has none. */
  async function upload(from: number, to: number): Promise<void> {
    for (let start = from; start < to; start += 1000) {
      const entities = Array.from({ length: Math.min(1000, to - start) }, (_, at) => {
        const number = start + at;
        return {
          product_id: `p${String(number).padStart(5, '0')}`,
          title: `thing ${number}`,
          brand: `b${number % 2}`,
          cost: number,
          ...(number % 100 === 0 ? {} : { price: number }),
        };
      });
      const { status } = await project.post('/api/v1/entities/upload', { entity_type: 'product', entities });
      expect(status).to.equal(200);
    }
  }

  async function find(candidates: object): Promise<Found> {
    const answer = await fetch(project.url + ROUTE, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ candidates }),
    });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    const { ranked_candidates: ranked } = JSON.parse(text) as {
      readonly ranked_candidates: readonly { readonly candidate_id: string }[];
    };
    return {
      ids: ranked.map(({ candidate_id: id }) => id),
      header: answer.headers.get('millrace-index-candidates'),
    };
  }

  async function refused(candidates: unknown, status = 422): Promise<string> {
    const answer = await project.post(ROUTE, { candidates });
    expect(answer.status).to.equal(status);
    return String(answer.json.detail);
  }

  it('ranks those that meet the condition, and leaves out those of which it is not known', async () => {
    const where = 'product.price < 5 or product.price >= 2098';
    expect(await find({ from: 'index', where })).to.deep.equal({
      ids: ['p00001', 'p00002', 'p00003', 'p00004', 'p02098', 'p02099'],
      header: 'matched=6, taken=6',
    });
  });

  it('reads references', async () => {
    const where = 'product.brand.name == "Vela" and product.price < 6';
    expect((await find({ from: 'index', where })).ids).to.deep.equal(['p00001', 'p00003', 'p00005']);
  });

  it('takes the first by id if more meet the condition, and says so', async () => {
    const all = await find({ from: 'index' });
    expect(all.header).to.equal('matched=2100, taken=40');
    expect([...all.ids].sort()).to.deep.equal(
      Array.from({ length: 40 }, (_, at) => `p${String(at).padStart(5, '0')}`),
    );
    const three = await find({ from: 'index', where: 'true', limit: 3 });
    expect(three).to.deep.include({ header: 'matched=2100, taken=3' });
    expect(three.ids).to.have.length(3);
    expect((await find({ from: 'index', where: 'product.price < 0' })).ids).to.deep.equal([]);
  });

  it('explains where the candidates are from', async () => {
    const { json } = await project.post(`${ROUTE}/explain`, {
      candidates: { from: 'index', where: 'product.price == 7' },
    });
    expect(json.candidates).to.deep.include({
      sent: 1,
      index: { where: 'product.price == 7', scanned: 2100, matched: 1, taken: 1 },
    });
  });

  it('refuses a wrong condition with its reason, and does not read the environment', async () => {
    const where = (text: unknown): Promise<string> => refused({ from: 'index', where: text });
    expect(await where('product.prise < 1')).to.contain('did you mean `product.price`?');
    expect(await where('product.price <')).to.match(/at \/candidates\/where: /);
    expect(await where('product.price')).to.match(/at \/candidates\/where: /);
    expect(await where('product.title == "${PATH}"')).to.contain('`PATH` is not set');
    expect(await where('query.query == "x"')).to.match(/at \/candidates\/where: /);
    expect(await where('product.cost > 10')).to.contain('it reads a private attribute');
    expect(await where('x'.repeat(3000))).to.contain('at most 2000 characters');
    expect(await where(7)).to.contain('expected an expression');
    expect(await where(`true"}, absent: keep }\n  - { use: score, with: { value: 1`)).to.match(/where: /);
  });

  it('refuses other members and limits', async () => {
    expect(await refused({ from: 'index', were: 'true' })).to.contain('did you mean where?');
    expect(await refused({ from: 'search' })).to.contain('expected "index", or a list of candidates');
    expect(await refused({})).to.contain('expected "index", or a list of candidates');
    expect(await refused({ from: 'index', limit: 41 })).to.contain(
      'from 1 to 40, the limit of this pipeline',
    );
    expect(await refused({ from: 'index', limit: 0 })).to.contain('from 1 to 40');
  });

  it('describes them in the OpenAPI document', async () => {
    const document = await project.get('/openapi.json');
    expect(document.replace(/\s/g, '')).to.contain('"from":{"type":"string","const":"index"}');
  });

  it('refuses to read more entities than the setting allows', async () => {
    await upload(2100, 2600);
    expect(await find({ from: 'index', where: 'product.price < 2' })).to.deep.include({ ids: ['p00001'] });
    expect(await refused({ from: 'index', where: 'product.brand.name == "Vela"' })).to.equal(
      'the index has more than 2500 entities of the type product, the most that a request may read',
    );
  });
});
