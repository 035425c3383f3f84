import { deepStrictEqual as expectEqual } from 'node:assert';
import { until } from '../../support/until.js';

const SIZE = 300;
const INDEX = 'products';
const NAMED = { in_title: 'title', in_description: 'description' };

const bodyOf = (query: unknown): object => ({
  query: {
    bool: {
      should: Object.values(NAMED).map((field) => ({ match: { [field]: { query, _name: field } } })),
    },
  },
});

/** A pipeline that asks OpenSearch, and finds candidates by words when it is away. */
export const retrieverFiles = (url: string): Record<string, string> => ({
  'queries/found.json': JSON.stringify(bodyOf({ expr: 'query.query' })),
  'pipelines/found.yaml': `pipeline: found
rank: product
request: { candidates: {}, query: query }
limits: { candidates: ${SIZE}, time: 10s }
retrieve:
  - use: opensearch
    as: os
    with: { url: "${url}", index: ${INDEX}, body_file: queries/found.json, size: ${SIZE}, queries: ${JSON.stringify(NAMED)} }
  - { use: words, with: { query: query.query, fields: { product.title: 1 } } }
merge: { fuse: first }
components:
  - { use: score, with: { value: 'coalesce(os:score, 0)' } }
page: { size: ${SIZE}, max_size: ${SIZE} }
`,
});

interface Values {
  readonly candidate_id: string;
  readonly values: Readonly<Record<string, { readonly value: unknown }>>;
}

async function post(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Compares what the retriever `opensearch` finds with what the engine answers: ids, places, scores, scores of named queries. */
export async function checkRetriever(
  service: string,
  engine: string,
  queries: readonly string[],
): Promise<void> {
  let compared = 0;
  for (const query of queries) {
    const direct = await post(`${engine}/${INDEX}/_search?include_named_queries_score=true`, {
      ...bodyOf(query),
      ...{ size: SIZE, _source: false },
    });
    const { hits } = (await direct.json()) as {
      hits: { hits: { _id: string; _score: number; matched_queries: Record<string, number> }[] };
    };
    const explained = await post(`${service}/api/v1/found/explain`, { query: { query } });
    const { page } = (await explained.json()) as { page: Values[] };
    const found = page.flatMap(({ candidate_id: id, values }) => {
      const of = (output: string): unknown => values[`os:${output}`]?.value ?? 0;
      return of('place') === 0
        ? []
        : [[id, of('place'), of('score'), ...Object.keys(NAMED).map((output) => of(output))]];
    });
    const expected = hits.hits.map(({ _id, _score, matched_queries: matched }, at) => [
      ...[_id, at + 1, _score],
      ...Object.values(NAMED).map((name) => matched[name] ?? 0),
    ]);
    expectEqual(found, expected, query);
    compared += found.length;
  }
  const ltr = await fetch(`${engine}/_ltr`);
  console.log(
    `retriever: ${queries.length} searches, ${compared} candidates: ids, places, scores and scores of named queries are the engine's; ` +
      (ltr.ok
        ? 'Learning to Rank is installed'
        : 'without the plugin Learning to Rank, so `_ltrlog` is not compared'),
  );
}

/** Expects that the other retriever answers once the engine is away, and that the answer says so. */
export async function checkDeadEngine(service: string, query: string): Promise<void> {
  await until(
    'an answer without the engine',
    async () => {
      const answer = await post(`${service}/api/v1/found`, { query: { query } });
      const { ranked_candidates: ranked = [] } = (await answer.json()) as { ranked_candidates?: unknown[] };
      const degraded = answer.headers.get('millrace-degraded');
      return answer.status === 200 && degraded === 'retrieve=os' && ranked.length > 0;
    },
    30_000,
  );
  console.log('engine stopped: 200, Millrace-Degraded: retrieve=os, with the candidates of words');
}
