import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { expect } from 'chai';
import { Random } from '../../runtime/ground/core/random.js';
import { startPostgres } from '../support/postgres-server.js';
import { serveFiles } from '../support/served-project.js';

const SIZE = 32;
const ROWS = 5_000;
const QUERIES = 50;
const MOST = 100;
/** Of the exact neighbours, how many an HNSW index with its defaults finds at least. */
const RECALL = 0.8;

const files = (url: string): Record<string, string> => ({
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
  'pipelines/near.yaml': `pipeline: near
rank: product
request: { candidates: {}, vector: vector(${SIZE}) }
limits: { time: 10s }
retrieve:
  - use: postgres
    timeout: 5s
    with:
      url: ${url}
      query: select id, 1 - (embedding <=> $1::vector) as cosine from products order by embedding <=> $1::vector limit ${MOST}
      params: [request.vector]
      outputs: [cosine]
components:
  - { use: score, with: { value: postgres:cosine } }
page: { size: ${MOST}, max_size: ${MOST} }
`,
});

/** Finds neighbours with pgvector, whose PostgreSQL the Python package pgserver brings, and compares them with exact ones. */
const { python = 'python3' } = parseArgs({ options: { python: { type: 'string' } } }).values;
const programs = execFileSync(
  python,
  ['-c', 'from pgserver._commands import POSTGRES_BIN_PATH as p; print(p)'],
  {
    encoding: 'utf8',
  },
);
const random = new Random(1);
const vectorOf = (): number[] => Array.from({ length: SIZE }, () => Math.fround(random.next() - 0.5));
const rows = Array.from({ length: ROWS }, (_, at) => ({ id: `p${at}`, vector: vectorOf() }));
const norm = (vector: readonly number[]): number => Math.hypot(...vector);
const cosine = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0) / (norm(a) * norm(b));

const postgres = await startPostgres(programs.trim());
try {
  await postgres.run(
    `create extension vector; create table products (id text primary key, embedding vector(${SIZE}))`,
  );
  await postgres.run(
    `insert into products values ${rows.map(({ id, vector }) => `('${id}', '${JSON.stringify(vector)}')`).join()}`,
  );
  const project = await serveFiles(files(postgres.url), undefined, { MILLRACE_MODEL_HOSTS: '127.0.0.1' });
  const found = async (vector: readonly number[]): Promise<Map<string, number>> => {
    const { status, json } = await project.post('/api/v1/near', { vector });
    expect(status, JSON.stringify(json)).to.equal(200);
    const ranked = json['ranked_candidates'] as { candidate_id: string; ranked_score: number }[];
    return new Map(ranked.map((one) => [one.candidate_id, one.ranked_score]));
  };
  try {
    const queries = Array.from({ length: QUERIES }, vectorOf);
    const exact = queries.map((query) =>
      rows
        .map(({ id, vector }) => [id, cosine(query, vector)] as const)
        .sort((a, b) => b[1] - a[1])
        .slice(0, MOST),
    );
    for (const [at, query] of queries.entries()) {
      const own = [...(await found(query))];
      expect(own.map(([id]) => id)).to.deep.equal(exact[at]?.map(([id]) => id));
      for (const [place, [, score]] of own.entries())
        expect(score).to.be.closeTo(exact[at]?.[place]?.[1] ?? NaN, 1e-5);
    }
    await postgres.run(
      'create index on products using hnsw (embedding vector_cosine_ops); alter database postgres set hnsw.ef_search = 200; alter database postgres set enable_seqscan = off',
    );
    // Its connections are lost, and new ones have the settings.
    await postgres.stop();
    await postgres.start();
    const { rows: plan } = await postgres.run(
      `explain select id from products order by embedding <=> '${JSON.stringify(queries[0])}' limit ${MOST}`,
    );
    expect(JSON.stringify(plan)).to.contain('products_embedding_idx');
    let hits = 0;
    for (const [at, query] of queries.entries()) {
      const own = await found(query);
      hits += exact[at]?.filter(([id]) => own.has(id)).length ?? 0;
    }
    const recall = hits / (QUERIES * MOST);
    console.log(
      `${QUERIES} queries of ${ROWS} vectors: without an index equal to exact neighbours; HNSW finds ${(100 * recall).toFixed(1)} %`,
    );
    expect(recall).to.be.above(RECALL);
  } finally {
    await project.close();
  }
} finally {
  await postgres.remove();
}
