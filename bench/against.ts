import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedisServer } from '../test/support/redis-server.js';
import { PROJECT } from './service/data.js';
import { writeItemsProject } from './support/items-project.js';
import { table } from './support/measure.js';
import { measurePair, pairHead, summaryOf, type Pair } from './support/pairs.js';

const SERVER = join('dist', 'bench', 'service', 'millrace.js');

interface Against {
  /** The checkout to compare with. */
  readonly before: string;
  /** The other checkout; by default this one. */
  readonly after: string | undefined;
  /** Pairs of processes for each number of candidates. */
  readonly pairs: number;
  /** The number of candidates; by default several. */
  readonly candidates: number | undefined;
  /** Clients that send at the same time. */
  readonly clients: number;
}

/** Compares two checkouts, which are built: CPU per request of the two services, on the same store, project and requests. */
export async function serviceAgainst(checkouts: Against, short: boolean): Promise<void> {
  const before = serverOf(checkouts.before);
  const after =
    checkouts.after === undefined
      ? fileURLToPath(new URL('./service/millrace.js', import.meta.url))
      : serverOf(checkouts.after);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  try {
    await writeItemsProject(folder, PROJECT);
    const sides = [{ module: before }, { module: after }] as const;
    const { clients } = checkouts;
    const setup = { sides, folder, redisUrl: redis.url, clients };
    const rows: string[][] = [];
    const { candidates: of } = checkouts;
    for (const count of of !== undefined ? [of] : short ? [100] : [3, 24, 100, 1000]) {
      const pairs: Pair[] = [];
      for (let i = 0; i < (short ? 3 : checkouts.pairs); i++) pairs.push(await measurePair(setup, count, i));
      rows.push(summaryOf(count, pairs));
    }
    console.log(table(pairHead('before', 'after'), rows));
  } finally {
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns the server of a checkout, which is built */
export function serverOf(checkout: string): string {
  const server = resolve(checkout, SERVER);
  if (!existsSync(server))
    throw new Error(`${server} does not exist; run \`npm run build\` in that checkout`);
  return server;
}
