import { appendFile, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedisServer } from '../test/support/redis-server.js';
import { PROJECT } from './service/data.js';
import { ensembleOf, writeItemsProject } from './support/items-project.js';
import { lightGbmText } from './support/lightgbm-text.js';
import { table } from './support/measure.js';
import { measurePair, pairHead, summaryOf, type Pair, type Setup } from './support/pairs.js';

/** The number of features that the model reads. */
const FEATURES = 20;

/** What the second service of a pair has under `log:`; the first has no `log:`. */
const LOGS = [
  ['nothing', undefined],
  ['the page', '{}'],
  ['all candidates', '{ candidates: all }'],
] as const;

/**
 * Measures what the ledger costs: CPU per request of two services of this build, without `log:` and with it, on the same
 * store and requests. Each record has the 20 inputs of the model and its score. The pairs are those of `service
 * --against`; a pair of two services without `log:` shows the noise.
 * @param candidates of a request; undefined: several sizes
 */
export async function ledgerBench(short: boolean, candidates?: number): Promise<void> {
  const module = fileURLToPath(new URL('./service/millrace.js', import.meta.url));
  const folders: string[] = [];
  const redis = await startRedisServer();
  try {
    const plain = await project(undefined, folders);
    const rows: string[][] = [];
    const sizes = short ? [100] : [24, 100, 1000];
    for (const count of candidates === undefined ? sizes : [candidates]) {
      for (const [what, log] of short ? [LOGS[0], LOGS[2]] : LOGS) {
        const folder = await project(log, folders);
        const ledger = await mkdtemp(join(tmpdir(), 'millrace-ledger-'));
        folders.push(ledger);
        const setup: Setup = {
          sides: [{ module }, { module, env: { MILLRACE_PROJECT: folder, MILLRACE_LEDGER_DIR: ledger } }],
          folder: plain,
          redisUrl: redis.url,
        };
        const pairs: Pair[] = [];
        for (let i = 0; i < (short ? 4 : 16); i++) pairs.push(await measurePair(setup, count, i));
        rows.push([
          what,
          ...summaryOf(count, pairs),
          String(Math.round((await sizeOf(ledger)) / 1024 / pairs.length)),
        ]);
      }
    }
    console.log(table(['logged', ...pairHead('none', 'log'), 'KiB/pair'], rows));
  } finally {
    await redis.remove();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

/** The project of the service bench, with a model that reads fewer features. */
async function project(log: string | undefined, folders: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  folders.push(folder);
  await writeItemsProject(folder, PROJECT);
  const features = PROJECT.features.slice(0, FEATURES);
  const columns = features.map((name) => `item_stats__${name}`);
  await writeFile(
    join(folder, 'models/ltr.txt'),
    lightGbmText(ensembleOf({ ...PROJECT, features }), columns),
  );
  if (log !== undefined) await appendFile(join(folder, 'pipelines/items.yaml'), `log: ${log}\n`);
  return folder;
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const path of await readdir(folder, { recursive: true }))
    bytes += (await stat(join(folder, path))).size;
  return bytes;
}
