import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCli } from '../runtime/cli/run-cli.js';
import { version } from '../runtime/project/settings/version.js';
import { startRedisServer, type PrivateRedis } from '../test/support/redis-server.js';
import { repositoryPath } from '../test/support/repository.js';
import { folderSize } from '../test/support/folder-size.js';
import { table } from './support/measure.js';
import { writeProducts } from './support/products.js';
import type { Opened } from './support/open-embedded.js';

const PROJECT = repositoryPath();
/** How often everything is replaced before the folder of the embedded store is measured. */
const OVERWRITES = 20;

interface Rate {
  readonly name: string;
  readonly rate: number;
}

/**
 * Loads a file of products of about 700 bytes with the CLI's own code. In the same run it measures the minimum work
 * of any loader (JSON.parse of every line) and the maximum speed of one Redis (redis-benchmark). It then measures the
 * embedded store with the same products: time to open, memory, and size of the folder after everything was replaced
 * many times.
 */
export async function loadBench(short: boolean): Promise<void> {
  const count = short ? 10_000 : 100_000;
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  const file = join(folder, 'products.jsonl');
  try {
    await writeProducts(file, count);
    const bytes = Math.round((await stat(file)).size / count);
    const rounds: Rate[][] = [];
    for (let round = 0; round < (short ? 1 : 3); round++) {
      rounds.push(await rates(file, count, bytes, redis, join(folder, `embedded-${round}`)));
    }
    print(rounds, count, bytes);
    await embedded(join(folder, 'embedded-0'), folder, count, short ? 3 : OVERWRITES);
  } finally {
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function rates(
  file: string,
  count: number,
  bytes: number,
  redis: PrivateRedis,
  dataDir: string,
): Promise<Rate[]> {
  const found: Rate[] = [];
  found.push({ name: 'JSON.parse of every line', rate: await parseRate(file, count) });
  found.push({ name: 'redis-benchmark -P 16, SET', rate: await redisRate(redis.port, count, bytes) });
  const env = { REDIS_URL: redis.url };
  found.push({ name: 'entities load, redis', rate: await loadRate(file, [], env, count) });
  const service = await startService(env);
  try {
    const flags = ['--url', service.url];
    found.push({ name: 'entities load --url, redis', rate: await loadRate(file, flags, {}, count) });
  } finally {
    await service.stop();
  }
  const flags = ['--store', 'embedded', '--data-dir', dataDir];
  found.push({ name: 'entities load, embedded', rate: await loadRate(file, flags, {}, count) });
  return found;
}

/** Returns entities per second. */
async function parseRate(file: string, count: number): Promise<number> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const start = performance.now();
  let sum = 0;
  for (const line of lines) sum += (JSON.parse(line) as { price: number }).price;
  if (Number.isNaN(sum)) throw new Error('every product has a price');
  return perSecond(count, start);
}

/** Uses the count and the time that the CLI prints: from the first byte read to the last acknowledgement. */
async function loadRate(
  file: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
  count: number,
): Promise<number> {
  let output = '';
  let errors = '';
  const code = await runCli(
    ['entities', 'load', 'product', file, '--json', '--project', PROJECT, ...flags],
    {
      env: { ...env, LOG_LEVEL: 'silent' },
      stdin: Readable.from([]),
      stdout: collect((part) => (output += part)),
      stderr: collect((part) => (errors += part)),
      stopSignal: () => new AbortController().signal,
    },
    version,
  );
  const report = code === 0 ? (JSON.parse(output) as { loaded: number; seconds: number }) : undefined;
  if (report?.loaded !== count) throw new Error(`the load failed (${code}): ${errors}${output}`);
  return count / report.seconds;
}

function collect(take: (part: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      take(chunk.toString());
      done();
    },
  });
}

/** Measures SET with values of the same size and the same number of keys, with Redis' own tool. */
async function redisRate(port: number, count: number, bytes: number): Promise<number> {
  const args = ['-p', port, '-t', 'set', '-P', 16, '-n', count, '-r', count, '-d', bytes, '--csv'].map(
    String,
  );
  const child = spawn('redis-benchmark', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const [, rate] = /"SET","([\d.]+)"/.exec(output) ?? [];
  if (rate === undefined) throw new Error(`redis-benchmark printed no rate: ${output}`);
  return Number(rate);
}

/** Starts a service in a separate process, as in production. */
async function startService(
  env: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child = fork(fileURLToPath(new URL('./support/service.js', import.meta.url)), [], {
    env: { ...process.env, ...env, PORT: '0', LOG_LEVEL: 'silent', MILLRACE_PROJECT: PROJECT },
  });
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

function print(rounds: readonly (readonly Rate[])[], count: number, bytes: number): void {
  const [first = []] = rounds;
  const middle = first.map(({ name }, i) => {
    const sorted = rounds.map((round) => round[i]?.rate ?? NaN).sort((a, b) => a - b);
    return { name, rate: sorted[Math.floor(sorted.length / 2)] ?? NaN };
  });
  const [parse, redis] = middle.map(({ rate }) => rate);
  const text = `${count.toLocaleString('en')} products of ${bytes} bytes, medians of ${rounds.length}`;
  console.log(`\n${text}\n`);
  console.log(
    table(
      ['', 'entities/s', 'of JSON.parse', 'of redis-benchmark'],
      middle.map(({ name, rate }) => [
        name,
        Math.round(rate).toLocaleString('en'),
        (rate / (parse ?? NaN)).toFixed(2),
        (rate / (redis ?? NaN)).toFixed(2),
      ]),
    ),
  );
}

async function embedded(dataDir: string, folder: string, count: number, overwrites: number): Promise<void> {
  const full = await folderSize(dataDir);
  const opened = await open(dataDir);
  const rows = [
    ['opened in', `${Math.round(opened.ms)} ms`],
    ['memory per entity, with key', `${Math.round(opened.bytes / count)} bytes`],
    ['folder after the load', mb(full)],
  ];
  const flags = ['--store', 'embedded', '--data-dir', dataDir];
  const file = join(folder, 'again.jsonl');
  for (let round = 0; round < overwrites; round++) {
    await writeProducts(file, count, round + 2);
    await loadRate(file, flags, {}, count);
  }
  rows.push([`folder after ${overwrites} replacements`, mb(await folderSize(dataDir))]);
  const again = await open(dataDir);
  rows.push(['time to open after that', `${Math.round(again.ms)} ms`]);
  console.log(`\n${table(['embedded store', ''], rows)}`);
}

/** Opens the store in a new process, which reports the cost. */
async function open(dataDir: string): Promise<Opened> {
  const script = fileURLToPath(new URL('./support/open-embedded.js', import.meta.url));
  const child = fork(script, [dataDir], { execArgv: ['--expose-gc'] });
  const [opened] = (await once(child, 'message')) as [Opened];
  await once(child, 'exit');
  return opened;
}

function perSecond(count: number, start: number): number {
  return (count * 1000) / (performance.now() - start);
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
