import { expect } from 'chai';
import { withFiles } from '../support/temporary-files.js';
import { post } from './harness.js';
import { serveProject } from './serve-project.js';

const FILES = {
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { tags: list(string), sizes: list(float) }\n',
  'schemas/entities/item.yaml': 'entity: item\nattributes: { brand: ref(brand) }\n',
  'pipelines/items.yaml': `pipeline: items
rank: item
components:
  - { use: score, with: { value: count(item.brand.tags) + sum(item.brand.sizes) } }
limits: { candidates: 10000, time: 30s }
`,
};

describe('lists of an entity that candidates share', () => {
  for (const [count, tags, sizes, status] of [
    [1000, 350, 1000, 200],
    [10_000, 35, 100, 200],
    [1000, 400, 1, 422],
    [1000, 1, 1100, 422],
  ] as const)
    it(`with ${tags} texts and ${sizes} numbers for ${count} candidates: ${status}, however often`, () =>
      withFiles(FILES, (root) =>
        serveProject(root, async (url) => {
          const brand = {
            brand_id: 'b',
            tags: Array.from({ length: tags }, (_, i) => `tag ${i}`),
            sizes: Array.from({ length: sizes }, () => 1),
          };
          const stored = await post(`${url}/api/v1/entities/upload`, {
            entity_type: 'brand',
            entities: [brand],
          });
          expect(stored.status).to.equal(200);
          const candidates = Array.from({ length: count }, (_, i) => ({ item_id: `i${i}`, brand: 'b' }));
          // The first request reads the brand from the store, the second one from memory.
          for (let i = 0; i < 2; i++) {
            const answer = await post(`${url}/api/v1/items`, { candidates });
            expect(answer.status, JSON.stringify(answer.json).slice(0, 300)).to.equal(status);
            if (status === 422)
              expect(JSON.stringify(answer.json)).to.match(
                /the candidates together have more than (393,216|1,048,576) elements of one list, of the request or of an entity that they share; send fewer candidates or shorter lists/,
              );
          }
        }),
      ));
});
