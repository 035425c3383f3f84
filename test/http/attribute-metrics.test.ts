import { expect } from 'chai';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { withFiles } from '../support/temporary-files.js';
import { call, post } from './harness.js';

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, brand: ref(brand), tags: list(string) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
define:
  is_good: product.brand.name == "good" or "good" in product.tags
components:
  - use: score
    with: { value: product.price }
  - use: boost
    with: { where: is_good, multiply: 2 }
`,
};

describe('what is counted of attributes', () => {
  for (const resident of ['off', 'all'])
    it(`is their values by status, and entities that are missing from the index: resident ${resident}`, () =>
      withFiles(FILES, async (root) => {
        const settings = loadSettings(
          { LOG_LEVEL: 'silent', MILLRACE_RESIDENT: resident },
          { project: root },
        );
        const app = await createApp(settings, { store: new MemoryStore() });
        const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
        const url = `http://127.0.0.1:${server.port}`;
        try {
          const upload = (entity_type: string, ...entities: object[]) =>
            post(`${url}/api/v1/entities/upload`, { entity_type, entities });
          await upload('product', { product_id: 'a', price: 1, brand: 'b1', tags: ['good'] });
          await upload('product', { product_id: 'b', price: null, brand: 'b2' });
          await upload('brand', { brand_id: 'b1', name: 'good' });
          const candidates = ['a', 'b', 'gone', 'carried'].map((product_id) =>
            product_id === 'carried' ? { product_id, price: 3 } : { product_id },
          );
          for (let i = 0; i < 2; i++)
            expect((await post(`${url}/api/v1/ranking`, { candidates })).status).to.equal(200);
          const { text } = await call(`${url}/metrics`);
          const lines = text.split('\n').filter((line) => /^millrace_(attribute|missing)/.test(line));
          const of = (attribute: string, status: string, entity = 'product'): string =>
            `millrace_attribute_values_total{entity_type="${entity}",attribute="${attribute}",status="${status}"}`;
          expect(lines.sort()).to.deep.equal(
            [
              `${of('price', 'present')} 4`,
              `${of('price', 'null')} 2`,
              `${of('price', 'missing_entity')} 2`,
              `${of('brand', 'present')} 4`,
              `${of('brand', 'missing_entity')} 4`,
              `${of('tags', 'present')} 2`,
              `${of('tags', 'absent')} 2`,
              `${of('tags', 'missing_entity')} 4`,
              `${of('name', 'present', 'brand')} 2`,
              `${of('name', 'missing_entity', 'brand')} 6`,
              'millrace_missing_entities_total{entity_type="product"} 4',
              'millrace_missing_entities_total{entity_type="brand"} 2',
            ].sort(),
          );
        } finally {
          await server.close(0);
          await app.close();
        }
      }));
});
