/**
 * A model of 300 trees is replaced again and again, between times by files cut short, while 8 clients rank without a
 * pause: no request fails, no answer mixes two models, nobody sees an older model after a newer one, what is broken is
 * told and never served, and nothing of old models stays. `--short` for a few replacements.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeProject } from '../support/project.js';
import { FEATURES, ITEMS, KnownModels } from './reload/models.js';
import type { ServiceState } from './reload/service.js';
import { megabytes, Verdict } from './support/figures.js';

const SHORT = process.argv.includes('--short');
const SWAPS = SHORT ? 10 : 50;
/** Every so many replacements, a file that is cut short comes first. */
const BROKEN_EVERY = 5;
const CLIENTS = 8;
const CANDIDATES = 100;
const POLL_MS = 50;
const MODEL = 'models/ltr.txt';

interface Ranked {
  readonly ms: number;
  /** When it was sent, milliseconds of performance.now(). */
  readonly at: number;
}

const models = new KnownModels(300, 64);
const attributes = Array.from({ length: FEATURES }, (_, i) => `f${i}: float`).join(', ');
const root = await writeProject({
  'schemas/entities/item.yaml': `entity: item\nattributes: { ${attributes} }\n`,
  'pipelines/items.yaml': `pipeline: items
rank: item
request: { candidates: {} }
limits: { candidates: 1000, time: 5s }
components:
  - use: lightgbm
    as: ltr
    with: { model: ${MODEL} }
  - use: score
    with: { value: 'ltr:score' }
page: { size: 1000, max_size: 1000 }
`,
  [MODEL]: models.text(1),
});

const ranked: Ranked[] = [];
const wrong: string[] = [];
/** The newest model that any client has seen. */
let newest = 0;
let [reloaded, failed] = [0, 0];
let running = true;

const service: ChildProcess = fork(fileURLToPath(new URL('./reload/service.js', import.meta.url)), {
  execArgv: ['--expose-gc'],
  env: {
    ...process.env,
    MILLRACE_PROJECT: root,
    MILLRACE_STORE: 'embedded',
    MILLRACE_RELOAD: 'watch',
    MILLRACE_RELOAD_POLL_MS: String(POLL_MS),
    PORT: '0',
    LOG_LEVEL: 'info',
  },
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
});
process.once('exit', () => service.kill('SIGKILL'));
if (service.stdout !== null)
  createInterface(service.stdout).on('line', (line) => {
    if (line.includes('"msg":"the project was reloaded"')) reloaded++;
    if (line.includes('"msg":"the reload failed')) failed++;
  });

const url = String((await once(service, 'message'))[0]);
await must('/api/v1/entities/upload', {
  entity_type: 'item',
  entities: models.items.map((values, item) => ({
    item_id: `i${item}`,
    ...Object.fromEntries(values.map((value, i) => [`f${i}`, value])),
  })),
});

const clients = Array.from({ length: CLIENTS }, (_, client) => rankOn(client));
await until(() => newest === 1);
const quietFrom = performance.now();
await pause(SHORT ? 1000 : 5000);
const quietTo = performance.now();
const begin = await state();
const swapFrom = performance.now();
let settled: ServiceState | undefined;
let broken = 0;
for (let number = 2; number <= SWAPS + 1; number++) {
  const text = models.text(number);
  if (number % BROKEN_EVERY === 0) {
    await publish(text.slice(0, text.length / 2));
    broken++;
    await until(() => failed === broken);
  }
  await publish(text);
  await until(() => newest === number);
  if (number === Math.ceil(SWAPS / 5)) settled = await state();
}
const swapTo = performance.now();
running = false;
await Promise.all(clients);
await pause(200);
const end = await state();
const metrics = await (await fetch(`${url}/metrics`)).text();
service.send('stop');
await once(service, 'exit');
await rm(root, { recursive: true, force: true });

const metric = (start: string): number =>
  Number(
    metrics
      .split('\n')
      .find((line) => line.startsWith(start))
      ?.split(' ')
      .pop() ?? NaN,
  );
const times = (from: number, to: number): number[] =>
  ranked
    .filter(({ at }) => at >= from && at < to)
    .map(({ ms }) => ms)
    .sort((a, b) => a - b);
const figures = (sorted: readonly number[]): string => {
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(1);
  return `${sorted.length} answers, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`;
};
console.log(`between replacements: ${figures(times(quietFrom, quietTo))}`);
console.log(`while replacing:      ${figures(times(swapFrom, swapTo))}`);
console.log(`longest that the event loop was held up while replacing: ${end.longestStallMs.toFixed(0)} ms`);

const verdict = new Verdict();
verdict.check(
  'answers that failed, mixed models or went back to an older one',
  wrong.length === 0,
  wrong.slice(0, 5).join('; ') || 'none',
);
verdict.check('models that took over', reloaded === SWAPS, `${reloaded} of ${SWAPS}`);
verdict.check('broken files, told in the log', failed === broken, `${failed} of ${broken}`);
verdict.check(
  'broken files, counted',
  metric('millrace_reloads_total{outcome="failed"}') === broken,
  String(broken),
);
verdict.check(
  'kept entities dropped',
  metric('millrace_resident_flushes_total') === 0,
  String(metric('millrace_resident_flushes_total')),
);
const grown = end.programs - begin.programs;
// The model before stays for the comparison with the new one.
verdict.check('programs of old models that stayed', grown <= begin.programs, String(grown));
if (settled !== undefined) {
  const heap = end.heapUsed - settled.heapUsed;
  verdict.check('heap grown since a fifth of the replacements', heap < 8e6, megabytes(heap));
  const rss = end.rss - settled.rss;
  verdict.check('process grown since then', rss < 100e6, `${megabytes(rss)}, to ${megabytes(end.rss)}`);
}
verdict.end();

/** Ranks without a pause, and judges each answer. */
async function rankOn(client: number): Promise<void> {
  let seen = 0;
  for (let turn = 0; running; turn++) {
    const first = (client * 31 + turn * 7) % ITEMS;
    const items = Array.from({ length: CANDIDATES }, (_, i) => (first + i) % ITEMS);
    const at = performance.now();
    const number = await rankOnce(items).catch((error: unknown) => `failed: ${String(error)}`);
    ranked.push({ at, ms: performance.now() - at });
    if (typeof number === 'string') wrong.push(number);
    else if (number < seen) wrong.push(`model ${number} after ${seen}`);
    else seen = number;
    newest = Math.max(newest, seen);
  }
}

/** The model that all of an answer is of, or what is wrong with it. */
async function rankOnce(items: readonly number[]): Promise<number | string> {
  const response = await fetch(`${url}/api/v1/items`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ candidates: items.map((item) => ({ item_id: `i${item}` })) }),
  });
  const text = await response.text();
  if (response.status !== 200) return `${response.status} ${text.slice(0, 200)}`;
  const { ranked_candidates: answered } = JSON.parse(text) as {
    ranked_candidates: { candidate_id: string; ranked_score: number }[];
  };
  if (answered.length !== items.length) return `${answered.length} of ${items.length} candidates`;
  const numbers = new Set(
    answered.map((one) => models.numberOf(one.ranked_score, Number(one.candidate_id.slice(1)))),
  );
  const [number] = numbers;
  return numbers.size === 1 && number !== undefined
    ? number
    : `an answer of models ${[...numbers].join(', ')}`;
}

async function publish(text: string): Promise<void> {
  await writeFile(join(root, `${MODEL}.new`), text);
  await rename(join(root, `${MODEL}.new`), join(root, MODEL));
}

async function state(): Promise<ServiceState> {
  service.send('state');
  return (await once(service, 'message'))[0] as ServiceState;
}

async function must(path: string, body: object): Promise<void> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

/** @throws Error if it takes a minute */
async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`it took too long; ${wrong.slice(0, 5).join('; ')}`);
    await pause(5);
  }
}
