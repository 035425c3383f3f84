import { expect } from 'chai';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { repositoryPath } from '../support/repository.js';

/** Bad input to the whole service, as a client sends it: a clear 4xx each, nothing stored, never a 5xx. */

interface Bad {
  readonly what: string;
  readonly path: string;
  readonly body: string | Buffer;
  readonly type?: string;
  readonly status: number;
  readonly code: string;
  /** JSON pointers of the violations. */
  readonly at?: readonly string[];
}

const UPLOAD = '/api/v1/entities/upload';
const RANK = '/api/v1/ranking';
const upload = (...entities: unknown[]): string => JSON.stringify({ entity_type: 'product', entities });
const many = Array.from({ length: 1001 }, (_, i) => ({ product_id: `p${i}` }));

const BAD: readonly Bad[] = [
  { what: 'malformed JSON', path: UPLOAD, body: '{"entities": [,]}', status: 400, code: 'malformed_json' },
  { what: 'half a document', path: RANK, body: '{"candidates": [', status: 400, code: 'malformed_json' },
  {
    what: 'no UTF-8',
    path: RANK,
    body: Buffer.from([0x22, 0xff, 0x22]),
    status: 400,
    code: 'malformed_json',
  },
  { what: 'no body', path: RANK, body: '', status: 400, code: 'malformed_json' },
  {
    what: 'another media type',
    path: RANK,
    body: 'a=1',
    type: 'text/plain',
    status: 415,
    code: 'unsupported_media_type',
  },
  { what: 'a list for an object', path: UPLOAD, body: '[]', status: 422, code: 'invalid_body', at: [''] },
  {
    what: 'entities that are no list',
    path: UPLOAD,
    body: '{"entity_type":"product","entities":{}}',
    status: 422,
    code: 'invalid_body',
    at: ['/entities'],
  },
  {
    what: 'wrong types, each named by its place',
    path: UPLOAD,
    body: upload(
      { product_id: 'good' },
      { product_id: 'p', price: 'cheap', number_in_stock: 1.5, categories: ['a', 1] },
      { product_id: 7.5 },
    ),
    status: 422,
    code: 'invalid_body',
    at: [
      '/entities/1/categories/1',
      '/entities/1/number_in_stock',
      '/entities/1/price',
      '/entities/2/product_id',
    ],
  },
  {
    what: '1,001 entities',
    path: UPLOAD,
    body: upload(...many),
    status: 422,
    code: 'invalid_body',
    at: ['/entities'],
  },
  {
    what: 'half a surrogate pair in an id',
    path: UPLOAD,
    body: '{"entity_type":"product","entities":[{"product_id":"good"},{"product_id":"a\\ud800"}]}',
    status: 422,
    code: 'invalid_body',
    at: ['/entities/1/product_id'],
  },
  {
    what: '__proto__ as an attribute',
    path: UPLOAD,
    body: '{"entity_type":"product","entities":[{"product_id":"good"},{"product_id":"b","x":{"__proto__":{"a":1}}}]}',
    status: 422,
    code: 'invalid_body',
    at: ['/entities/1/x/__proto__'],
  },
  {
    what: 'an unknown type',
    path: UPLOAD,
    body: '{"entity_type":"produkt","entities":[]}',
    status: 404,
    code: 'unknown_entity_type',
  },
  {
    what: '__proto__ as a type',
    path: UPLOAD,
    body: '{"entity_type":"__proto__","entities":[]}',
    status: 404,
    code: 'unknown_entity_type',
  },
  {
    what: 'a number too large for JSON numbers',
    path: UPLOAD,
    body: '{"entity_type":"product","entities":[{"product_id":"good","price":1e400}]}',
    status: 422,
    code: 'invalid_body',
    at: ['/entities/0/price'],
  },
  {
    what: 'a number too large where nothing is declared',
    path: UPLOAD,
    body: '{"entity_type":"product","entities":[{"product_id":"good","x":[1e400]}]}',
    status: 422,
    code: 'invalid_body',
    at: ['/entities/0/x/0'],
  },
  {
    what: 'ids beyond what JSON numbers hold exactly',
    path: UPLOAD,
    body: '{"entity_type":"product","entities":[{"product_id":"good"},{"product_id":9007199254740993},{"product_id":-0}]}',
    status: 422,
    code: 'invalid_body',
    at: ['/entities/1/product_id', '/entities/2/product_id'],
  },
  { what: 'an unknown pipeline', path: '/api/v1/rankingg', body: '{}', status: 404, code: 'unknown_route' },
  {
    what: 'a ranking of wrong types',
    path: RANK,
    body: '{"candidates":[{"product_id":1.5}],"user_page":-1}',
    status: 422,
    code: 'invalid_body',
    at: ['/candidates/0/product_id', '/user_page'],
  },
  {
    what: 'a page that is larger than the stated candidate page',
    path: RANK,
    body: '{"candidates":[{"product_id":"a"}],"user_page_size":8,"candidate_page_size":4}',
    status: 422,
    code: 'invalid_body',
    at: ['/user_page_size'],
  },
  {
    what: '1,001 candidates',
    path: RANK,
    body: JSON.stringify({ candidates: many }),
    status: 422,
    code: 'invalid_body',
    at: ['/candidates'],
  },
  {
    what: 'ids that are neither texts nor whole numbers',
    path: '/api/v1/entities/get',
    body: '{"entity_type":"product","entity_ids":[1.5]}',
    status: 422,
    code: 'invalid_body',
    at: ['/entity_ids/0'],
  },
  {
    what: 'a delete of an unknown type',
    path: '/api/entity/v1/entities/delete',
    body: '{"entity_type":"x","entity_ids":[]}',
    status: 404,
    code: 'unknown_entity_type',
  },
  {
    what: 'rows of an unknown view',
    path: '/api/v1/features/push',
    body: '{"view":"product_stat","rows":[]}',
    status: 404,
    code: 'unknown_view',
  },
  {
    what: 'a row of an unknown feature',
    path: '/api/v1/features/push',
    body: '{"view":"product_stats","rows":[{"product_id":"good","ctr":1}]}',
    status: 422,
    code: 'invalid_body',
    at: ['/rows/0/ctr'],
  },
  {
    what: 'a nesting bomb',
    path: UPLOAD,
    body: `{"entity_type":"product","entities":[{"product_id":"good","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`,
    status: 422,
    code: 'invalid_body',
  },
];

describe('bad input', () => {
  let app: App;
  let url = '';
  let close = (): Promise<void> => Promise.resolve();
  const store = new MemoryStore();

  before(async () => {
    app = await createApp(loadSettings({ LOG_LEVEL: 'silent' }, { project: repositoryPath() }), { store });
    const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${server.port}`;
    close = async () => {
      await server.close(0);
      await app.close();
    };
  });
  after(() => close());

  const post = (path: string, body: string | Buffer, type = 'application/json'): Promise<Response> =>
    fetch(url + path, { method: 'POST', body, headers: { 'content-type': type } });

  for (const { what, path, body, type, status, code, at } of BAD) {
    it(`${what}: ${status} ${code}`, async () => {
      const answer = await post(path, body, type);
      const problem = (await answer.json()) as {
        code: string;
        status: number;
        request_id: string;
        errors?: { pointer: string; detail: string }[];
      };
      expect({ status: answer.status, code: problem.code }).to.deep.equal({ status, code });
      expect(answer.headers.get('content-type')).to.equal('application/problem+json');
      expect(problem.request_id).to.equal(answer.headers.get('x-request-id'));
      if (at !== undefined)
        expect(problem.errors?.map(({ pointer }) => pointer).sort()).to.deep.equal([...at]);
    });
  }

  it('names the place of a single violation where only the detail is read', async () => {
    const answer = await post(RANK, '{"candidates":[{"product_id":1e21}]}');
    expect(((await answer.json()) as { detail?: string }).detail).to.equal(
      'The request at /candidates/0/product_id: an id is a text or a whole number up to 2^53 - 1, found the number 1e+21',
    );
  });

  it('a body of 20 MB: 413 body_too_large', async () => {
    // The server stops reading at its limit; a client may see the answer or a closed connection.
    const outcome = await post(UPLOAD, upload({ product_id: 'good', x: 'y'.repeat(20_000_000) })).then(
      (answer) => answer.status,
      () => 'closed',
    );
    expect(outcome).to.be.oneOf([413, 'closed']);
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
  });

  it('stored nothing of all that', async () => {
    const answer = await post(
      '/api/v1/entities/get',
      '{"entity_type":"product","entity_ids":["good","p","b"]}',
    );
    expect(await answer.json()).to.deep.equal({
      entity_type: 'product',
      entities: { good: null, p: null, b: null },
    });
  });
});
