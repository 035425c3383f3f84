import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'undici';
import type { ApiKey } from '../runtime/serve/access/api-key.js';
import { KeyRing } from '../runtime/serve/access/key-ring.js';
import { createKey, hashOfKey, KEY_LENGTH } from '../runtime/serve/access/key-text.js';
import { keysText } from '../runtime/serve/access/keys-file.js';
import type { Scope } from '../runtime/serve/access/scopes.js';
import { randomNumbers } from '../test/support/random-ensemble.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { load, run, startContestant, warmUp, type Contestant } from './service/contestants.js';
import { bodiesOf, PROJECT } from './service/data.js';
import { writeItemsProject } from './support/items-project.js';
import { median, table } from './support/measure.js';

const SERVER = fileURLToPath(new URL('./service/millrace.js', import.meta.url));
const ITEMS = 2_000;
/** The number of keys in the file. The cost of a request does not depend on it. */
const KEYS = 200;
/** The most that a key may cost, in milliseconds of CPU per request. */
const MOST_CPU_MS = 0.05;
/** From this |t| of Welch's test on, two timings count as different: the bound of TVLA and dudect. */
const MOST_T = 4.5;

/**
 * Measures what keys cost a ranking request, and whether the time of a refusal tells how much of a wrong key is right.
 * @throws Error if a figure misses its bound, after all figures are printed
 */
export async function keysBench(short: boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  const missed: string[] = [];
  try {
    await writeItemsProject(folder, PROJECT);
    const keys = Array.from({ length: KEYS }, (_, i) => newKey(`k${i}`, ['rank', 'features']));
    const keysFile = join(folder, 'keys.json');
    await writeFile(keysFile, keysText(keys.map(({ key }) => key)));
    const setup = { folder, redisUrl: redis.url, keysFile, text: keys[KEYS >> 1]?.text ?? '' };
    missed.push(
      ...(await measureCost(setup, short)),
      ...measureLookup(short),
      ...(await measureRefusals(setup, short)),
    );
  } finally {
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
  if (missed.length > 0) throw new Error(missed.join('; '));
}

interface Setup {
  readonly folder: string;
  readonly redisUrl: string;
  readonly keysFile: string;
  /** A key of the file. */
  readonly text: string;
}

function newKey(name: string, scopes: readonly Scope[]): { readonly key: ApiKey; readonly text: string } {
  const { id, text } = createKey();
  return { key: { id, name, hash: hashOfKey(text), scopes, created: Date.now() }, text };
}

/** Starts the service with or without keys. */
function startService({ folder, redisUrl, keysFile, text }: Setup, withKeys: boolean): Promise<Contestant> {
  const env = {
    MILLRACE_PROJECT: folder,
    REDIS_URL: redisUrl,
    LOG_LEVEL: 'warn',
    PORT: '0',
    MILLRACE_AUTH: withKeys ? 'keys' : 'none',
    MILLRACE_KEYS: withKeys ? keysFile : '',
  };
  const started = startContestant(withKeys ? 'with keys' : 'without', SERVER, [], env);
  return withKeys
    ? started.then((one) => ({ ...one, headers: { authorization: `Bearer ${text}` } }))
    : started;
}

/**
 * CPU per ranking with and without keys. Each pair is one ABBA sequence with two new processes, because processes of one
 * build differ from each other by more than keys cost. The interval is that of the mean of the paired differences, 95 %,
 * two-sided, by the normal approximation. A short run has too few pairs for the bound; it fails only if even the lower
 * end of the interval is above it.
 */
async function measureCost(setup: Setup, short: boolean): Promise<string[]> {
  const rows: string[][] = [];
  const missed: string[] = [];
  for (const count of short ? [24] : [24, 100]) {
    const pairs: { without: number; with: number }[] = [];
    for (let i = 0; i < (short ? 3 : 24); i++) pairs.push(await measurePair(setup, count, i % 2 === 0));
    const { mean, half } = intervalOf(pairs.map((pair) => pair.with - pair.without));
    const middle = (all: number[]): string => median(all.sort((a, b) => a - b)).toFixed(3);
    rows.push([
      String(count),
      String(pairs.length),
      middle(pairs.map(({ without }) => without)),
      middle(pairs.map((pair) => pair.with)),
      mean.toFixed(4),
      `${(mean - half).toFixed(4)} to ${(mean + half).toFixed(4)}`,
    ]);
    if ((short ? mean - half : mean + half) > MOST_CPU_MS)
      missed.push(
        `keys cost ${mean.toFixed(3)} ms at ${count} candidates, at most ${(mean + half).toFixed(3)} ms`,
      );
  }
  console.log(`\nCPU per ranking, ms; the upper end of the interval must not be above ${MOST_CPU_MS}\n`);
  console.log(table(['candidates', 'pairs', 'without', 'with keys', 'difference', '95 % interval'], rows));
  return missed;
}

async function measurePair(
  setup: Setup,
  count: number,
  isFirstWithout: boolean,
): Promise<{ without: number; with: number }> {
  const contestants: Contestant[] = [];
  try {
    for (const withKeys of isFirstWithout ? [false, true] : [true, false])
      contestants.push(await startService(setup, withKeys));
    for (const { url, headers } of contestants) await load(setup.redisUrl, url, ITEMS, headers);
    const bodies = bodiesOf(ITEMS, count, 16);
    await warmUp(contestants, ITEMS, bodies);
    const [a, b] = contestants;
    if (a === undefined || b === undefined) throw new Error('two services are compared');
    const requests = 1000;
    for (const contestant of contestants) await run(contestant, bodies, 2 * requests, 4);
    const costs: number[] = [];
    for (const contestant of [a, b, b, a]) costs.push((await run(contestant, bodies, requests, 4)).cpuMs);
    const [first = NaN, second = NaN, third = NaN, fourth = NaN] = costs;
    const [outer, inner] = [(first + fourth) / 2, (second + third) / 2];
    return isFirstWithout ? { without: outer, with: inner } : { without: inner, with: outer };
  } finally {
    for (const { process: child } of contestants) child.kill('SIGKILL');
  }
}

/**
 * Lengths of the beginning that a wrong key shares with a right one: nothing, `mr_`, the id, parts of the secret, and all
 * but the checksum. With a longer beginning there are too few keys: each single text has a time of its own, by the place
 * of its hash in the table.
 */
const PREFIXES = [0, 3, 12, 30, 45, 55];
/** The number of keys of each length. */
const POOL = 4096;

/**
 * Draws wrong keys of all prefix lengths in random order. Each text is new and made in the same way, as the texts of
 * headers are: the engine is faster with a text that it has seen, or that it built of other parts.
 */
class WrongKeys {
  readonly #pools: readonly Buffer[][] = PREFIXES.map(() => []);
  readonly #random = randomNumbers(5);

  constructor(right: string) {
    for (let i = 0; i < POOL; i++)
      for (const [which, length] of PREFIXES.entries()) {
        const other = createKey().text;
        const wrong = other[length] === right[length] ? '-' : (other[length] ?? '');
        const text = right.slice(0, length) + wrong + other.slice(length + 1);
        this.#pools[which]?.push(Buffer.from(text, 'latin1'));
      }
  }

  /** @returns a key, and the position of its length in PREFIXES */
  draw(): { readonly which: number; readonly text: string } {
    const which = Math.floor(this.#random() * PREFIXES.length);
    const pool = this.#pools[which] ?? [];
    return {
      which,
      text: (pool[Math.floor(this.#random() * pool.length)] ?? Buffer.alloc(0)).toString('latin1'),
    };
  }
}

/**
 * The time of the lookup alone, in this process, where the noise is smallest. The comparison that stops at the first
 * difference is the control: this measurement must find its leak.
 */
function measureLookup(short: boolean): string[] {
  const keys = Array.from({ length: KEYS }, (_, i) => newKey(`k${i}`, ['rank']));
  const ring = new KeyRing(keys.map(({ key }) => key));
  const right = keys[KEYS >> 1]?.text ?? '';
  const samples = short ? 20_000 : 200_000;
  const lookup = (text: string): void => {
    if (ring.find(text) !== undefined) throw new Error('a wrong key was found');
  };
  let equal = 0;
  const control = (text: string): void => {
    let at = 0;
    while (at < KEY_LENGTH && text.charCodeAt(at) === right.charCodeAt(at)) at++;
    equal += at;
  };
  const found = tellTimings('the lookup of a wrong key, ns', sample(right, samples, lookup));
  const controlled = tellTimings(
    'the control, which stops at the first difference, ns',
    sample(right, samples, control),
  );
  return [
    ...(found > MOST_T ? [`the time of the lookup depends on the prefix (|t| ${found.toFixed(1)})`] : []),
    ...(controlled <= MOST_T || equal === 0 ? ['the measurement does not find the leak of the control'] : []),
  ];
}

/** Times a call for keys of every prefix length, in random order. @returns nanoseconds by prefix */
function sample(right: string, samples: number, call: (text: string) => void): number[][] {
  const wrong = new WrongKeys(right);
  const times = PREFIXES.map((): number[] => []);
  const warmUpCalls = 20_000;
  for (let i = -warmUpCalls; i < samples * PREFIXES.length; i++) {
    const { which, text } = wrong.draw();
    const start = process.hrtime.bigint();
    call(text);
    const took = Number(process.hrtime.bigint() - start);
    if (i >= 0) times[which]?.push(took);
  }
  return times;
}

/** The time of a refusal as a client sees it, over one connection to the service. */
async function measureRefusals(setup: Setup, short: boolean): Promise<string[]> {
  const service = await startService(setup, true);
  try {
    const client = new Client(service.url);
    const wrong = new WrongKeys(setup.text);
    const times = PREFIXES.map((): number[] => []);
    const requests = (short ? 500 : 10_000) * PREFIXES.length;
    for (let i = -2000; i < requests; i++) {
      const { which, text } = wrong.draw();
      const start = performance.now();
      const response = await client.request({
        path: '/api/v1/items',
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${text}` },
        body: '{}',
      });
      await response.body.dump();
      const took = (performance.now() - start) * 1000;
      if (response.statusCode !== 401) throw new Error(`a wrong key is answered with ${response.statusCode}`);
      if (i >= 0) times[which]?.push(took);
    }
    await client.close();
    const t = tellTimings('a refusal over HTTP, µs', times);
    return t > MOST_T ? [`the time of a refusal depends on the prefix (|t| ${t.toFixed(1)})`] : [];
  } finally {
    service.process.kill('SIGKILL');
  }
}

/**
 * Prints the means by prefix and Welch's t of each against the keys that share nothing. The slowest tenth of all
 * samples, which garbage collections and other processes make, is left out first.
 * @returns the largest |t|
 */
function tellTimings(what: string, times: readonly (readonly number[])[]): number {
  const all = times.flat().sort((a, b) => a - b);
  const limit = all[Math.floor(all.length * 0.9)] ?? Infinity;
  const kept = times.map((some) => momentsOf(some.filter((time) => time <= limit)));
  const [base] = kept;
  if (base === undefined) throw new Error('there are prefixes');
  let most = 0;
  const rows = kept.map(({ mean, variance, count }, i) => {
    const t = i === 0 ? 0 : (mean - base.mean) / Math.sqrt(variance / count + base.variance / base.count);
    most = Math.max(most, Math.abs(t));
    return [
      `${PREFIXES[i] ?? 0} of ${KEY_LENGTH}`,
      String(count),
      mean.toFixed(1),
      (mean - base.mean).toFixed(2),
      t.toFixed(2),
    ];
  });
  console.log(`\nTime of ${what}; |t| up to ${MOST_T} is noise\n`);
  console.log(table(['equal characters', 'samples', 'mean', 'difference', 't'], rows));
  return most;
}

function momentsOf(values: readonly number[]): { mean: number; variance: number; count: number } {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  return { mean, variance, count };
}

function intervalOf(differences: readonly number[]): { mean: number; half: number } {
  const { mean, variance, count } = momentsOf(differences);
  return { mean, half: 1.96 * Math.sqrt(variance / count) };
}
