import { randomUUID } from 'node:crypto';
import { startProject, type TestProject } from '../test/support/project.js';
import { random } from './support/catalogue.js';
import { cpuSince, median, memory, ms, percentile, table } from './support/measure.js';

const PER_BODY = 1000;
const REQUESTS = 100;
const BRANDS = 500;
/** The pipeline takes so many candidates. */
const MOST = 1000;

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nattributes: { title: string, price: float, stock: int, brand: string }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {} }
limits: { candidates: ${MOST}, time: 60s }
components:
  - { use: score, with: { value: product.price } }
`,
};

/** Prices are 0 to 1000. */
const CONDITIONS = [
  'product.price < 1',
  'product.brand == "b7" and product.stock > 0',
  'product.stock > 0',
  'true',
];

/**
 * Measures requests with `from: index`: what is kept for conditions on three attributes, and requests whose conditions few or most
 * entities meet. With `limit: 1`, nearly all of a request is finding its candidates.
 */
export async function whereBench(short: boolean): Promise<void> {
  const count = short ? 5000 : 200_000;
  const project = await startProject(FILES);
  try {
    const next = random(1);
    for (let from = 0; from < count; from += PER_BODY)
      await project.upload(
        'product',
        ...Array.from({ length: Math.min(PER_BODY, count - from) }, (_, i) => ({
          product_id: `p${from + i}`,
          title: `product ${from + i}`,
          price: Math.round(next() * 100_000) / 100,
          stock: Math.floor(next() * 10),
          brand: `b${Math.floor(next() * BRANDS)}`,
        })),
      );
    const before = await memory();
    const began = process.cpuUsage();
    await find(project, 'product.brand == "b7" and product.stock > 0 and product.price < 1', 1);
    const first = cpuSince(began);
    const bytes = ((await memory()) - before) / count;
    const rows: string[][] = [];
    for (const where of CONDITIONS)
      for (const limit of [1, MOST]) rows.push(await rowOf(project, where, limit));
    console.log(
      `${count} entities, embedded store; CPU of one core. Kept for conditions on 3 attributes: ${bytes.toFixed(0)} bytes an entity, ${(first / 1000).toFixed(1)} s to read them`,
    );
    console.log(table(['condition', 'matched', 'taken', 'p50 ms', 'p99 ms'], rows));
  } finally {
    await project.close();
  }
}

async function rowOf(project: TestProject, where: string, limit: number): Promise<string[]> {
  const times: number[] = [];
  let found = { matched: 0, taken: 0 };
  for (let i = -REQUESTS / 5; i < REQUESTS; i++) {
    const start = process.cpuUsage();
    found = await find(project, where, limit);
    if (i >= 0) times.push(cpuSince(start));
  }
  times.sort((a, b) => a - b);
  return [where, String(found.matched), String(found.taken), ms(median(times)), ms(percentile(times, 99))];
}

async function find(
  { app }: TestProject,
  where: string,
  limit: number,
): Promise<{ readonly matched: number; readonly taken: number }> {
  const [pipeline] = app.pipelines;
  const run = await pipeline?.run(
    { candidates: { from: 'index', where, limit } },
    { requestId: randomUUID() },
  );
  if (run?.report.indexed === undefined) throw new Error('no candidates of the index');
  return run.report.indexed;
}
