import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { forkService } from '../test/prove/support/service.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { repositoryPath } from '../test/support/repository.js';
import { random } from './support/catalogue.js';
import { median, table } from './support/measure.js';
import { productLine } from './support/products.js';

/** The least rate of updates, as a share of the rate of uploads. */
const LEAST_RATE = 0.3;

interface Shape {
  /** Entities in a body. */
  readonly size: number;
  /** Requests in flight. */
  readonly atOnce: number;
  readonly bodies: number;
}

/**
 * Compares the rates at which a service stores products as uploads and as updates of two attributes. Rounds alternate.
 * @throws Error if updates are slower than `LEAST_RATE` of uploads, after all figures are printed
 */
export async function updatesBench(short: boolean): Promise<void> {
  const shapes: readonly Shape[] = [
    { size: 1000, atOnce: 2, bodies: short ? 10 : 40 },
    { size: 100, atOnce: 4, bodies: short ? 40 : 200 },
    { size: 1, atOnce: 8, bodies: short ? 400 : 2000 },
  ];
  const rows: string[][] = [];
  const missed: string[] = [];
  for (const store of ['redis', 'embedded'] as const)
    for (const shape of shapes) {
      const found = await compare(store, shape, short ? 3 : 7);
      const ratio = found.update / found.upload;
      const kinds = [found.upload, found.update, found.whole].map((rate) => rate.toFixed(0));
      rows.push([
        store,
        String(shape.size),
        ...kinds,
        ratio.toFixed(2),
        (found.whole / found.upload).toFixed(2),
      ]);
      if (ratio < LEAST_RATE)
        missed.push(`${store}, ${shape.size} in a body: ${ratio.toFixed(2)} of uploads`);
    }
  console.log('entities per second; medians of rounds\n');
  console.log(table(['', 'in a body', 'uploads', 'price and stock', 'whole', 'ratio', 'ratio, whole'], rows));
  if (missed.length > 0) throw new Error(`updates: at least ${LEAST_RATE} of uploads; ${missed.join('; ')}`);
}

type Kind = 'upload' | 'update' | 'whole';

async function compare(
  store: 'redis' | 'embedded',
  { size, atOnce, bodies }: Shape,
  rounds: number,
): Promise<Record<Kind, number>> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = store === 'redis' ? await startRedisServer() : undefined;
  const service = await forkService({
    ...{
      MILLRACE_PROJECT: repositoryPath(),
      MILLRACE_STORE: store,
      MILLRACE_DATA_DIR: folder,
      LOG_LEVEL: 'silent',
    },
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
  });
  const pool = new Pool(`http://127.0.0.1:${service.port}`, { connections: atOnce });
  try {
    const next = random(1);
    const bodyOf = (line: (index: number) => string): readonly string[] =>
      Array.from({ length: bodies }, (_, body) => {
        const lines = Array.from({ length: size }, (_one, i) => line(body * size + i));
        return `{"entity_type":"product","entities":[${lines.join(',')}]}`;
      });
    const whole = bodyOf((index) => productLine(index, next, 1));
    const price = bodyOf(
      (index) => `{"product_id":"p${index}","price":${index % 97},"number_in_stock":${index % 7}}`,
    );
    const sends: Readonly<Record<Kind, () => Promise<number>>> = {
      upload: () => send(pool, '/api/v1/entities/upload', whole, atOnce),
      update: () => send(pool, '/api/v1/entities/update', price, atOnce),
      whole: () => send(pool, '/api/v1/entities/update', whole, atOnce),
    };
    const rates: Record<Kind, number[]> = { upload: [], update: [], whole: [] };
    for (let round = -1; round < rounds; round++)
      for (const kind of Object.keys(sends) as Kind[]) {
        const rate = (1000 * bodies * size) / (await sends[kind]());
        if (round >= 0) rates[kind].push(rate);
      }
    const middle = (kind: Kind): number => median(rates[kind].sort((a, b) => a - b));
    return { upload: middle('upload'), update: middle('update'), whole: middle('whole') };
  } finally {
    await pool.close();
    service.process.kill('SIGKILL');
    await redis?.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Sends all bodies. @returns how long it took, in milliseconds */
async function send(pool: Pool, path: string, bodies: readonly string[], atOnce: number): Promise<number> {
  const began = performance.now();
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      const headers = { 'content-type': 'application/json' };
      const answer = await pool.request({ path, method: 'POST', headers, body });
      const text = await answer.body.text();
      assert.equal(answer.statusCode, 200, text);
      if (path.endsWith('update')) assert.ok(text.endsWith('"unknown_ids":[]}'), text);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sender));
  return performance.now() - began;
}
