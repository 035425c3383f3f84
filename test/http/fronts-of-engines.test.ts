import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { repositoryPath } from '../support/repository.js';
import { serveFiles } from '../support/served-project.js';

/** What engines are sent and answer, as their manuals have it. */
interface Shape {
  readonly path: string;
  readonly ask: (from: number, size: number) => Readonly<Record<string, unknown>>;
  /** A body that the engine sorts in another way. */
  readonly other: Readonly<Record<string, unknown>>;
  /** The page of a body. */
  readonly pageOf: (body: never) => readonly [from: number, size: number];
  readonly hit: (at: number) => string;
  readonly answer: (hits: string) => string;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  Meilisearch: {
    path: '/indexes/products/search',
    ask: (offset, limit) => ({ q: 'shoe', offset, limit, attributesToHighlight: ['title'] }),
    other: { q: 'shoe', sort: ['price:asc'] },
    pageOf: ({ offset = 0, limit = 20 }: { offset?: number; limit?: number }) => [offset, limit],
    hit: (at) =>
      `{"id":${at},"title":"shoe ${at}","price":${at}.0,"_formatted":{"title":"<em>shoe</em> ${at}"}}`,
    answer: (hits) => `{"hits":${hits},"query":"shoe","processingTimeMs":1,"estimatedTotalHits":50}`,
  },
  Typesense: {
    path: '/multi_search',
    ask: (offset, limit) => ({ searches: [{ collection: 'products', q: 'shoe', offset, limit }] }),
    other: { searches: [{ collection: 'products', q: 'shoe', page: 2 }] },
    pageOf: ({ searches: [one] }: { searches: { offset?: number; limit?: number }[] }) => [
      one?.offset ?? 0,
      one?.limit ?? 10,
    ],
    hit: (at) =>
      `{"document":{"id":"${at}","price":${at}.0},"highlights":[],"text_match":578730123365711993}`,
    answer: (hits) => `{"results":[{"found":50,"hits":${hits},"facet_counts":[],"out_of":50,"page":1}]}`,
  },
  Solr: {
    path: '/solr/products/query',
    ask: (offset, limit) => ({ query: 'shoe', offset, limit }),
    other: { query: 'shoe', sort: 'price asc' },
    pageOf: ({ offset = 0, limit = 10 }: { offset?: number; limit?: number }) => [offset, limit],
    hit: (at) => `{ "id":"${at}", "price":[${at}.0], "_version_":1799999999999999999 }`,
    answer: (hits) => `{"responseHeader":{"status":0},"response":{"numFound":50,"start":0,"docs":${hits}}}`,
  },
};

const COUNT = 50;
const WINDOW = 12;

/** The columns of the table in docs/fronts.md, by engine. */
function documented(): Map<string, Map<string, string>> {
  const page = readFileSync(repositoryPath('docs', 'fronts.md'), 'utf8');
  const [header = [], , ...rows] = page
    .split('\n')
    .slice(page.split('\n').findIndex((line) => line.startsWith('| key') && line.includes('Meilisearch')))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replace(/ \(.*\)$/, '')));
  const ended = rows.findIndex((cells) => cells.length === 0);
  const engines = new Map(header.slice(1).map((name) => [name, new Map<string, string>()]));
  for (const [key = '', ...cells] of rows.slice(0, ended))
    for (const [at, name] of header.slice(1).entries())
      engines.get(name)?.set(key.replaceAll('`', ''), (cells[at] ?? '').replaceAll('`', ''));
  return engines;
}

/** A front as the table says. The pipeline turns the window round. */
function filesFor(url: string, keys: ReadonlyMap<string, string>): Record<string, string> {
  const options = [...keys]
    .filter(([key]) => !key.startsWith('map'))
    .map(([key, value]) => `  ${key}: ${key === 'unless' ? `[${value}]` : value}\n`);
  return {
    'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: {}\n',
    'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { place: int }, query: query }
limits: { candidates: ${WINDOW} }
components: [{ use: score, with: { value: product.place } }]
`,
    'fronts/shop.yaml': `front: shop
use: http
pipeline: search
window: ${WINDOW}
map: { query: ${keys.get('map: { query: … }') ?? ''}, candidates: { place: place } }
with:
  url: ${url}
${options.join('')}`,
  };
}

describe('fronts of other engines, as docs/fronts.md describes them', () => {
  it('have recorded shapes for each engine of the table', () => {
    expect([...documented().keys()].sort()).to.deep.equal(Object.keys(SHAPES).sort());
  });

  for (const [name, keys] of documented())
    it(`ranks the window of ${name}, and keeps the bytes of each hit`, async () => {
      const shape = SHAPES[name];
      if (shape === undefined) throw new Error(`no shape of ${name}`);
      const { path, ask, other, pageOf, hit, answer } = shape;
      const engine = createServer((request, response) => {
        const parts: Buffer[] = [];
        request.on('data', (part: Buffer) => parts.push(part));
        request.on('end', () => {
          const [from, size] = pageOf(JSON.parse(Buffer.concat(parts).toString()) as never);
          const places = Array.from({ length: Math.min(size, COUNT - from) }, (_, at) => from + at);
          response.writeHead(request.url === path ? 200 : 404, { 'content-type': 'application/json' });
          response.end(answer(`[${places.map(hit).join(',')}]`));
        });
      });
      await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
      const project = await serveFiles(filesFor(url, keys), undefined, {
        MILLRACE_MODEL_HOSTS: new URL(url).host,
      });
      try {
        const search = async (body: object): Promise<readonly [string | null, string]> => {
          const headers = { 'content-type': 'application/json' };
          const sent = { method: 'POST', headers, body: JSON.stringify(body) };
          const found = await fetch(`${project.url}/shop${path}`, sent);
          return [found.headers.get('millrace-front'), await found.text()];
        };
        const hits = (places: readonly number[]): string => answer(`[${places.map(hit).join(',')}]`);
        expect(await search(ask(2, 3))).to.deep.equal([`ranked=${WINDOW}`, hits([9, 8, 7])]);
        expect(await search(ask(10, 4))).to.deep.equal([`ranked=${WINDOW}`, hits([1, 0, 12, 13])]);
        expect(await search(ask(20, 2))).to.deep.equal(['passed=window', hits([20, 21])]);
        const [told] = await search(other);
        expect(told).to.match(/^passed=/);
      } finally {
        await project.close();
        engine.closeAllConnections();
        await new Promise((resolve) => engine.close(resolve));
      }
    });
});
