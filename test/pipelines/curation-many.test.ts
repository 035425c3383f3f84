import { expect } from 'chai';
import { serveFiles, type ServedProject } from '../support/served-project.js';

const PIPELINE = `pipeline: search
rank: product
request: { candidates: {} }
components:
  - use: score
    with: { value: 1 }
  - { use: curation, with: { list: many } }
`;
/** More rules than a request can have events. */
const RULES = 1100;

describe('a request that meets more rules than it can have events', () => {
  let served: ServedProject;
  before(async () => {
    const rules = Array.from({ length: RULES }, () => ({ boost: { where: 'true', add: 1 } }));
    served = await serveFiles({
      'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: {}\n',
      'pipelines/search.yaml': PIPELINE,
      'curation/many.yaml': JSON.stringify({ curation: 'many', rules }),
    });
  });
  after(() => served.close());

  it('applies all of them, names all in explanations, and has events of the first 200', async () => {
    const sent = { candidates: [{ product_id: 'a' }, { product_id: 'b' }], include_events: true };
    const { status, json } = await served.post('/api/v1/search', sent);
    expect(status, JSON.stringify(json)).to.equal(200);
    const { ranked_candidates: ranked, events } = json as {
      ranked_candidates: { ranked_score: number }[];
      events: { event_type: string }[];
    };
    expect(ranked.map((one) => one.ranked_score)).to.deep.equal([RULES + 1, RULES + 1]);
    expect(events.filter(({ event_type: type }) => type === 'CUSTOM')).to.have.length(200);
    const explained = await served.post('/api/v1/search/explain', sent);
    expect(JSON.stringify(explained.json)).to.include('"many:1100"');
  });
});
