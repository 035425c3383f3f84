import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderSize } from '../test/support/folder-size.js';
import { writeSyntheticLedger } from './dataset/synthetic-ledger.js';
import { table } from './support/measure.js';

const CANDIDATES = 24;
const BUILD = fileURLToPath(new URL('./dataset/build.js', import.meta.url));

/** For one million rankings of 24 candidates and 20 features. */
const MOST_MS = 5 * 60_000;
const MOST_RSS = 2 ** 30;
const MILLION = 1_000_000;

/**
 * Builds a data set of a synthetic ledger in a process of its own, and prints its time, its memory and the bytes of a
 * candidate. The ledger has 20 features, clicks by request id, and orders of the last click.
 */
export async function dataSetBench(short: boolean, rankings = short ? 20_000 : 100_000): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  try {
    const ledger = join(folder, 'ledger');
    const start = performance.now();
    const features = writeSyntheticLedger(ledger, rankings, CANDIDATES);
    const written = performance.now() - start;
    const ledgerBytes = await folderSize(ledger);
    const out = join(folder, 'set');
    const { ms, rss, requests } = await build(ledger, out);
    const outBytes = await folderSize(out);
    const cells = rankings * CANDIDATES;
    const limit = (MOST_MS * rankings) / MILLION;
    console.log(
      table(
        [
          'rankings',
          'features',
          'ledger',
          'a candidate',
          'data set',
          'a candidate',
          'written',
          'built',
          'memory',
        ],
        [
          [
            rankings.toLocaleString('en'),
            String(features),
            megabytes(ledgerBytes),
            `${(ledgerBytes / cells).toFixed(0)} B`,
            megabytes(outBytes),
            `${(outBytes / cells).toFixed(0)} B`,
            seconds(written),
            seconds(ms),
            megabytes(rss),
          ],
        ],
      ),
    );
    console.log(
      `${requests.toLocaleString('en')} requests in the data set; the limit is ${seconds(limit)} and ${megabytes(MOST_RSS)}`,
    );
    if (rss > MOST_RSS || (rankings >= MILLION && ms > limit)) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Result {
  readonly ms: number;
  /** The most memory that the process had, in bytes. */
  readonly rss: number;
  readonly requests: number;
}

async function build(ledger: string, out: string): Promise<Result> {
  const child = spawn(process.execPath, [BUILD, ledger, out], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return JSON.parse(text) as Result;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
