import { expect } from 'chai';
import type { JsonObject } from '../../../../runtime/ground/api/types.js';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import type { EntityType } from '../../../../runtime/project/config/model/entities.js';
import { loadProject } from '../../../../runtime/project/config/project/load-project.js';
import { own } from '../../../../runtime/ground/core/value-fit.js';
import { AllowedHosts } from '../../../../runtime/project/settings/allowed-hosts.js';
import { Cards, NO_CARDS, type Card, type CardsById } from '../../../../runtime/state/index/cards.js';
import { withFiles } from '../../../support/temporary-files.js';

const PRODUCT = `entity: product
display: { title: title, image: image, subtitle: brand.name, badges: [price, brand.country, released, tags] }
attributes:
  title: string
  image: string
  brand: ref(brand)
  price: float
  released: timestamp
  tags: list(string)
`;
const BRAND = 'entity: brand\nattributes: { name: string, country: string }\n';
const PIPELINE =
  'pipeline: p\nrank: product\ncomponents:\n  - { use: score, with: { value: product.price } }\n';

type Stored = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

/** Makes cards of stored entities. `reads` has the type and the number of ids of each read. */
async function cardsOf(
  stored: Stored,
  ids: readonly string[],
  { hosts = 'img.example', product = PRODUCT } = {},
): Promise<{ readonly cards: ReadonlyMap<string, Card>; readonly reads: readonly string[] }> {
  return await withFiles(
    {
      'schemas/entities/product.yaml': product,
      'schemas/entities/brand.yaml': BRAND,
      'pipelines/p.yaml': PIPELINE,
    },
    async (root) => {
      const { config } = await loadProject(root, {});
      if (config === undefined) throw new Error('the project is not valid');
      const reads: string[] = [];
      const read = (type: string, batch: readonly string[]): Promise<Record<string, JsonObject | null>> => {
        reads.push(`${type} ${batch.length}`);
        return Promise.resolve(
          Object.fromEntries(
            batch.map((id) => [id, (own(stored[type] ?? {}, id) ?? null) as JsonObject | null]),
          ),
        );
      };
      const cards = new Cards(read, config.entities, AllowedHosts.parse(hosts) ?? AllowedHosts.none);
      return { cards: await cards.of('product', ids), reads };
    },
  );
}

const imageOf = async (image: string, hosts?: string): Promise<Partial<Card>> => {
  const { cards } = await cardsOf({ product: { a: { title: 'A', image } } }, ['a'], {
    ...(hosts !== undefined && { hosts }),
  });
  const { image: shown, blocked_host: blocked } = cards.get('a') ?? {};
  return {
    ...(shown !== undefined && { image: shown }),
    ...(blocked !== undefined && { blocked_host: blocked }),
  };
};

describe('cards', () => {
  it('show title, image, subtitle over a reference, and badges that have values', async () => {
    const { cards } = await cardsOf(
      {
        product: {
          a: {
            title: 'Trail shoe',
            image: 'https://img.example/a.jpg',
            brand_id: 7,
            price: 9.5,
            released: 0,
            tags: ['new', 'light'],
          },
        },
        brand: { 7: { name: 'Nord', country: 'SE' } },
      },
      ['a'],
    );
    expect(cards.get('a')).to.deep.equal({
      title: 'Trail shoe',
      subtitle: 'Nord',
      image: 'https://img.example/a.jpg',
      badges: [
        { name: 'price', value: 9.5 },
        { name: 'brand.country', value: 'SE' },
        { name: 'released', value: '1970-01-01T00:00Z' },
        { name: 'tags', value: 'new, light' },
      ],
    });
  });

  it('read a page in one round trip, and what it refers to in another', async () => {
    const product = Object.fromEntries(
      Array.from({ length: 24 }, (_, at) => [`p${at}`, { title: `T${at}`, brand: `b${at % 3}` }]),
    );
    const { cards, reads } = await cardsOf({ product }, [...Object.keys(product), 'p0']);
    expect(cards.size).to.equal(24);
    expect(reads).to.deep.equal(['product 24', 'brand 3']);
  });

  it('are not read for a type without display', async () => {
    const plain = 'entity: product\nattributes: { price: float }\n';
    const { cards, reads } = await cardsOf({ product: { a: { price: 1 } } }, ['a'], { product: plain });
    expect([cards, reads]).to.deep.equal([NO_CARDS, []]);
  });

  it('fall back to the id, say that an entity is missing, and survive what does not fit', async () => {
    const { cards } = await cardsOf(
      {
        product: {
          untitled: { price: 1 },
          odd: { title: { a: 1 }, brand: '\ud800', price: 'x', released: 'never', image: 5 },
          lost: { title: 'Lost', brand: 'gone' },
        },
      },
      ['untitled', 'deleted', 'odd', 'lost', '__proto__'],
    );
    expect([...cards]).to.deep.equal([
      ['untitled', { title: 'untitled', badges: [{ name: 'price', value: 1 }] }],
      ['deleted', { title: 'deleted', missing: true }],
      ['odd', { title: 'odd', badges: [{ name: 'price', value: 'x' }] }],
      ['lost', { title: 'Lost' }],
      ['__proto__', { title: '__proto__', missing: true }],
    ]);
  });

  it('have images of the named hosts alone, over http and https', async () => {
    expect(await imageOf('http://IMG.example:8080/a.jpg?x=%22#y')).to.deep.equal({
      image: 'http://img.example:8080/a.jpg?x=%22#y',
    });
    expect(await imageOf('https://evil.example/a.jpg')).to.deep.equal({ blocked_host: 'evil.example' });
    expect(await imageOf('https://img.example.evil.example/a.jpg')).to.have.property('blocked_host');
    expect(await imageOf('https://img.example:8443/a.jpg', 'img.example:443')).to.deep.equal({
      blocked_host: 'img.example:8443',
    });
    for (const address of [
      'javascript:alert(1)',
      'data:image/svg+xml,<svg/>',
      '//img.example/a.jpg',
      '/a.jpg',
      'https://user:secret@img.example/a.jpg',
      'https://',
      ' https://img.example/a.jpg',
    ])
      expect(await imageOf(address), address).to.deep.equal({});
  });

  it('cut long texts', async () => {
    const { cards } = await cardsOf({ product: { a: { title: `${'x'.repeat(299)}😀${'y'.repeat(500)}` } } }, [
      'a',
    ]);
    const { title = '' } = cards.get('a') ?? {};
    expect(title.length).to.be.at.most(301);
    expect(title.isWellFormed()).to.equal(true);
  });

  it('are left out with a warning if the store fails, but not if the code does', async () => {
    const types = new Map([['product', { display: { badges: [] } } as unknown as EntityType]]);
    const orNone = (failure: Error, warnings: string[]): Promise<CardsById> =>
      new Cards(() => Promise.reject(failure), types, AllowedHosts.none).orNone('product', ['a'], (message) =>
        warnings.push(message),
      );
    const warnings: string[] = [];
    const failure = new MillraceError('store_unavailable', 'the store does not answer');
    expect(await orNone(failure, warnings)).to.equal(NO_CARDS);
    expect(warnings).to.deep.equal(['titles are left out: the store does not answer']);
    const mistake = new TypeError('x');
    expect(await orNone(mistake, []).catch((error: unknown) => error)).to.equal(mistake);
  });
});
