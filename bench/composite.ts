import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../runtime/serve/app/app.js';
import type { App } from '../runtime/serve/app/running-app.js';
import type { Pipeline } from '../runtime/request/pipeline/types.js';
import { loadSettings } from '../runtime/project/settings/settings.js';
import { repositoryPath } from '../test/support/repository.js';
import { candidatesOf, random } from './support/catalogue.js';
import { measure, median, ms, table, type Contestant } from './support/measure.js';

const PROJECT = repositoryPath('bench', 'composite');
const COUNTS = [100, 300, 1000];
/** The maximum exponent of growth. */
const GOAL = 1.1;
const BRANDS = 500;
const USERS = 20;
const SIZE = 64;
const DAY = 86_400_000;
const WORDS =
  'lamp desk chair oak steel glass small large red blue folding outdoor light dark cotton wool table shelf rug bowl'.split(
    ' ',
  );

/**
 * Real-time features of a candidate together with the query, the user, and the user's interactions with the candidate
 * and its brand, for 100, 300 and 1,000 candidates. The time must grow linearly: the exponent of growth is fitted by
 * least squares over the logarithms of the medians. Runs on the embedded store, in process.
 */
export async function compositeBench(short: boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const settings = loadSettings(
    { LOG_LEVEL: 'silent' },
    { project: PROJECT, store: 'embedded', dataDir: folder },
  );
  const app = await createApp(settings);
  try {
    const ids = await load(app, short ? 3_000 : 20_000);
    await compare(app.pipelines, ids, short ? 60 : 300);
  } finally {
    await app.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Uploads data that is generated from a seed. Returns the ids of the products. */
async function load(app: App, count: number): Promise<string[]> {
  const next = random(1);
  const vector = (): number[] => Array.from({ length: SIZE }, () => next() - 0.5);
  const title = (): string =>
    Array.from({ length: 9 }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' ');
  const products = Array.from({ length: count }, (_, i) => ({
    product_id: `p${i}`,
    title: title(),
    brand: `b${Math.floor(next() * BRANDS)}`,
    embedding: vector(),
  }));
  const users = Array.from({ length: USERS }, (_, i) => ({ user_id: `u${i}`, embedding: vector() }));
  const rows = users.flatMap(({ user_id }) =>
    Array.from({ length: BRANDS }, (_, b) => ({
      user_id,
      brand_id: `b${b}`,
      clicks_30d: 1 + Math.floor(next() * 20),
      ctr_30d: 0.01 + next() / 2,
    })),
  );
  await app.entities.upload({ entity_type: 'user', entities: users });
  for (let i = 0; i < products.length; i += 1000)
    await app.entities.upload({ entity_type: 'product', entities: products.slice(i, i + 1000) });
  for (let i = 0; i < rows.length; i += 1000)
    await app.features.push({ view: 'user_brand_stats', rows: rows.slice(i, i + 1000) });
  for (const { user_id } of users) {
    for (const type of ['impression', 'click']) {
      const events = products
        .slice(0, 1000)
        .map(({ product_id }) => ({ type, product: { product_id }, time: Date.now() - next() * DAY }));
      await app.feedback.record({ request_id: 'bench', user: { user_id }, events });
    }
  }
  return products.map(({ product_id }) => product_id);
}

interface Series {
  readonly pipeline: Pipeline;
  readonly count: number;
  readonly bodies: readonly object[];
  /** Milliseconds of the components stage, per run. */
  readonly componentsMs: number[];
  round: number;
}

async function compare(
  pipelines: readonly Pipeline[],
  ids: readonly string[],
  rounds: number,
): Promise<void> {
  const items = ids.map((item_id) => ({ item_id }));
  const series = pipelines.flatMap((pipeline) =>
    COUNTS.map((count): Series => {
      const bodies = Array.from({ length: 8 }, (_, i) => ({
        request_id: `r${i}`,
        query: { query: `${WORDS[i] ?? ''} ${WORDS[i + 7] ?? ''} lamp` },
        user: { user_id: `u${i}` },
        candidates: candidatesOf(items, count, i).map(({ item_id }) => ({ product_id: item_id })),
        user_page_size: 24,
      }));
      return { pipeline, count, bodies, componentsMs: [], round: 0 };
    }),
  );
  for (const one of series) await check(one);
  const contestants = series.map((one): Contestant => ({
    name: `${one.pipeline.name} ${one.count}`,
    run: async () => {
      await run(one);
    },
  }));
  const warmUp = Math.ceil(rounds / 3);
  const measured = await measure(contestants, rounds, warmUp);
  const whole = new Map(series.map((one, i) => [one, median(measured[i]?.ms ?? [])]));
  const components = new Map(
    series.map((one) => [one, median(one.componentsMs.slice(-rounds).sort((a, b) => a - b))]),
  );
  print('components stage', components, rounds);
  print('whole request, without HTTP', whole, rounds);
}

async function run(one: Series) {
  const body = one.bodies[one.round++ % one.bodies.length];
  const { answer, report } = await one.pipeline.run(body, { requestId: 'bench' });
  one.componentsMs.push(report.stageMs.components);
  return answer.ranked_candidates ?? [];
}

/**
 * Checks that the features were computed: the whole first page has scores, and no two candidates have the same score.
 */
async function check(one: Series): Promise<void> {
  const page = await run(one);
  assert.equal(page.length, 24);
  assert.ok(
    page.every(({ ranked_score: score }) => score > 0),
    `${one.pipeline.name}: every score is above 0`,
  );
}

function print(what: string, medians: ReadonlyMap<Series, number>, rounds: number): void {
  console.log(
    `\n${what}: milliseconds, medians of ${rounds} rounds; the goal is an exponent of at most ${GOAL}\n`,
  );
  const names = new Set([...medians.keys()].map(({ pipeline }) => pipeline.name));
  const rows = [...names].map((name) => {
    const times = [...medians].filter(([{ pipeline }]) => pipeline.name === name);
    const exponent = slope(times.map(([{ count }, time]) => [Math.log(count), Math.log(time)]));
    return [
      name,
      ...times.map(([, time]) => ms(time)),
      exponent.toFixed(2),
      exponent <= GOAL ? 'met' : 'missed',
    ];
  });
  console.log(table(['pipeline', ...COUNTS.map(String), 'exponent', ''], rows));
}

/** Returns the slope of the best line through the points, by least squares. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / list.length;
  const x = mean(points.map(([one]) => one));
  const y = mean(points.map(([, one]) => one));
  const covariance = points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0);
  return covariance / points.reduce((sum, [px]) => sum + (px - x) ** 2, 0);
}
