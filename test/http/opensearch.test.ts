import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { anything, assert, property } from 'fast-check';
import { HitFeatures } from '../../plugins/opensearch/hit-features.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';

/** Answers of `_search`, in the shapes that OpenSearch and its plugin Learning to Rank document. */
const envelope = (hits: readonly object[], more: object = {}): object => ({
  took: 3,
  timed_out: false,
  _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
  hits: { max_score: 7.5, hits },
  ...more,
});
const log = (entries: readonly object[]): object => ({ fields: { _ltrlog: [{ log: entries }] } });
const ANSWERS: Readonly<Record<string, readonly [status: number, body: object]>> = {
  scores: [
    200,
    envelope([
      {
        ...{ _index: 'shop', _id: 'p1', _score: 7.5, matched_queries: { title: 5.25, brand: 2.25 } },
        ...log([{ name: 'title_bm25', value: 9.5 }, { name: 'phrase' }]),
      },
      { ...{ _index: 'shop', _id: 'p2', _score: 1 }, ...log([{ name: 'title_bm25', value: 0 }]) },
    ]),
  ],
  names: [200, envelope([{ _index: 'shop', _id: 'p1', _score: 7.5, matched_queries: ['brand'] }])],
  shards: [
    200,
    envelope([{ _id: 'p1', _score: 1 }], { _shards: { total: 2, successful: 1, skipped: 0, failed: 1 } }),
  ],
  missing: [
    404,
    { error: { type: 'index_not_found_exception', reason: 'no such index [shop]' }, status: 404 },
  ],
};

const BODY = {
  query: {
    bool: {
      should: [
        { match: { title: { query: { expr: 'query.query' }, _name: 'title' } } },
        { match: { brand: { query: { expr: 'query.query' }, _name: 'brand' } } },
      ],
      filter: [
        { sltr: { _name: 'logged', featureset: 'shop', params: { keywords: { expr: 'query.query' } } } },
      ],
    },
  },
  ext: { ltr_log: { log_specs: { name: 'log', named_query: 'logged' } } },
};

describe('opensearch', () => {
  const sent: { url: string | undefined; body: unknown }[] = [];
  let engine: Server;
  let project: ServedProject | undefined;
  let answer = 'scores';
  before(async () => {
    engine = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        sent.push({ url: request.url, body: JSON.parse(Buffer.concat(parts).toString()) });
        const [status, body] = ANSWERS[answer] ?? [500, {}];
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
    const { port } = engine.address() as AddressInfo;
    const files = {
      'schemas/entities/product.yaml': 'entity: product\n',
      'queries/text.json': JSON.stringify(BODY),
      'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: query }
limits: { time: 10s }
retrieve:
  - use: opensearch
    as: os
    with:
      url: http://127.0.0.1:${port}/
      index: shop,bags-*
      body_file: queries/text.json
      size: 50
      queries: { in_title: title, in_brand: brand }
      features: { bm25: title_bm25, phrase: phrase }
components:
  - { use: score, with: { value: 'os:score + os:in_title + coalesce(os:bm25, 0) + coalesce(os:phrase, 100)' } }
`,
    };
    project = await serveFiles(files, undefined, { MILLRACE_MODEL_HOSTS: `127.0.0.1:${port}` });
  });
  after(async () => {
    await project?.close();
    engine.closeAllConnections();
    await new Promise((resolve) => engine.close(resolve));
  });

  async function explain(query: string): Promise<{
    status: number;
    page: Record<string, unknown>[][];
    degraded: unknown;
    reason: string | undefined;
    detail: unknown;
  }> {
    const response = await fetch(`${project?.url ?? ''}/api/v1/search/explain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: { query } }),
    });
    const body = (await response.json()) as {
      page?: { candidate_id: string; values: Record<string, { value: unknown; status: string }> }[];
      degraded?: unknown;
      detail?: unknown;
      candidates?: { retrieval: { retrievers: { reason?: string }[] } };
    };
    return {
      status: response.status,
      page: (body.page ?? []).map(({ candidate_id: id, values }) => [
        { id },
        Object.fromEntries(
          Object.entries(values)
            .filter(([name]) => name.startsWith('os:'))
            .map(([name, { value, status }]) => [name.slice(3), status === 'present' ? value : status]),
        ),
      ]),
      degraded: body.degraded,
      reason: body.candidates?.retrieval.retrievers[0]?.reason,
      detail: body.detail,
    };
  }

  it('asks the index for ids, scores of named queries and logged features, which become values', async () => {
    answer = 'scores';
    sent.length = 0;
    const query = 'trail "}] shoe';
    const { page, degraded } = await explain(query);
    const text = JSON.stringify(BODY).replaceAll('{"expr":"query.query"}', JSON.stringify(query));
    expect(sent).to.deep.equal([
      {
        url: '/shop%2Cbags-*/_search?include_named_queries_score=true',
        body: { _source: false, track_total_hits: false, ...(JSON.parse(text) as object), size: 50 },
      },
    ]);
    expect(page).to.deep.equal([
      [{ id: 'p1' }, { score: 7.5, place: 1, in_title: 5.25, in_brand: 2.25, bm25: 9.5, phrase: 'absent' }],
      [{ id: 'p2' }, { score: 1, place: 2, in_title: 0, in_brand: 0, bm25: 0, phrase: 'absent' }],
    ]);
    expect(degraded).to.deep.equal([]);
  });

  it('takes the names of queries from servers that return no scores of them', async () => {
    answer = 'names';
    const { page } = await explain('shoe');
    expect(page[0]?.[1]).to.include({ in_title: 0, in_brand: 1, bm25: 'absent' });
  });

  it('reports shards that failed, and quotes what the engine refuses', async () => {
    answer = 'shards';
    const partial = await explain('shoe');
    expect(partial.degraded).to.deep.equal([{ cause: 'retrieve', value: 'os' }]);
    expect(partial.reason).to.equal('the answer is not whole: `_shards.failed` is set');
    answer = 'missing';
    expect(await explain('shoe')).to.include({ status: 503 });
  });

  it('reads any hit without an error', () => {
    const features = new HitFeatures({ queries: { a: 'title' }, features: { b: 'title_bm25' } });
    assert(
      property(anything(), anything(), (matched, logged) => {
        for (const hit of [
          matched,
          { matched_queries: matched, fields: logged },
          { matched_queries: { title: matched }, fields: { _ltrlog: logged } },
          {
            fields: {
              _ltrlog: [logged, { log: logged }, { log: [logged, { name: matched, value: logged }] }],
            },
          },
        ])
          features.read(hit, (output, value) => {
            expect(['a', 'b']).to.include(output);
            expect(value).to.be.a('number');
          });
      }),
    );
  });
});
