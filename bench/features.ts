import { strict as assert } from 'node:assert';
import { rm } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Redis } from 'ioredis';
import { createApp } from '../runtime/serve/app/app.js';
import type { App } from '../runtime/serve/app/running-app.js';
import type { StatusCount } from '../runtime/state/index/status-counts.js';
import { loadSettings } from '../runtime/project/settings/settings.js';
import { feastValue, materialise } from '../test/support/feast-writer.js';
import { writeProject } from '../test/support/project.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { measure, median, ms, percentile, table, type Contestant } from './support/measure.js';

setFlagsFromString('--expose-gc');
/** Collects garbage before each run, so that no contestant pays for another's garbage. */
const collect = runInNewContext("() => gc({ type: 'minor' })", {
  gc: runInNewContext('gc') as unknown,
}) as () => void;

const ROWS = 1000;
const VIEWS = 5;
const FEATURES_OF_A_VIEW = 10;
/** The minimum ratio between the time of a hash with one field per feature and the time of the cold read. */
const GOAL = 10;
const TTL = 3_600_000;

const views = (kind: string): string[] => Array.from({ length: VIEWS }, (_, v) => `${kind}_${v}`);
const FEATURES = Array.from({ length: FEATURES_OF_A_VIEW }, (_, f) => `f${f}`);
const ids = Array.from({ length: ROWS }, (_, i) => `product-${i}`);
const value = (row: number, v: number, f: number): number => row + v / 10 + f / 128;
/** One row in a hundred of the first view is expired, and one in a hundred of the second view is missing. */
const isOld = (row: number, v: number): boolean => v === 0 && row % 100 === 7;
const isThere = (row: number, v: number): boolean => !(v === 1 && row % 100 === 8);

/**
 * Reads 1,000 candidates × 50 features in 5 views, each value with its status and a check of its age. It runs the
 * hydrate and features stages of a pipeline from the store alone (cold) and with the resident tables (warm). It
 * compares them with HMGET of a hash with one field per feature into objects, and with Feast's layout through the
 * same stages. All run alternately on one Redis.
 */
export async function featuresBench(short: boolean): Promise<void> {
  const server = await startRedisServer();
  const root = await writeProject(projectFiles(server.url));
  const client = new Redis(server.url);
  const apps: App[] = [];
  try {
    for (const resident of ['off', 'all']) {
      const env = { LOG_LEVEL: 'silent', MILLRACE_RESIDENT: resident, REDIS_URL: server.url };
      apps.push(await createApp(loadSettings(env, { project: root, store: 'redis' })));
    }
    const [cold, warm] = apps;
    if (cold === undefined || warm === undefined) throw new Error('expected two services');
    const now = Date.now();
    await load(cold, client, server.url, now);
    const contestants = [
      pipelineRun('ours, cold', cold, 'own'),
      pipelineRun('ours, warm', warm, 'own'),
      pipelineRun("Feast's layout, our reader", cold, 'feast'),
    ];
    const rounds = short ? 5 : 60;
    const all = [...contestants, hashRun(client, now)];
    const measured = await measure(
      all.map((one) => ({ ...one, prepare: collect })),
      rounds,
      short ? 2 : 30,
    );
    const rows = measured.map(({ name, ms: whole }, i) => {
      const stages = contestants[i]?.stages.slice(-rounds).sort((a, b) => a - b);
      return { name, read: stages ?? whole, whole: stages === undefined ? undefined : whole };
    });
    const ours = median(rows[0]?.read ?? []);
    console.log(
      `\n${ROWS} candidates × ${VIEWS * FEATURES_OF_A_VIEW} features in ${VIEWS} views, ms, ${rounds} alternating rounds\n`,
    );
    console.log(
      table(
        ['', 'p50', 'p99', '× cold', 'request p50', 'p99'],
        rows.map(({ name, read, whole }) => [
          name,
          ms(median(read)),
          ms(percentile(read, 99)),
          (median(read) / ours).toFixed(2),
          whole === undefined ? '' : ms(median(whole)),
          whole === undefined ? '' : ms(percentile(whole, 99)),
        ]),
      ),
    );
    const ratio = median(rows.at(-1)?.read ?? []) / ours;
    console.log(
      `\nHMGET takes ${ratio.toFixed(1)} times as long as the cold read; the goal of ${GOAL} is ${ratio >= GOAL ? 'met' : 'missed'}`,
    );
  } finally {
    client.disconnect();
    for (const app of apps) await app.close();
    await rm(root, { recursive: true, force: true });
    await server.remove();
  }
}

interface PipelineRun extends Contestant {
  /** Milliseconds of hydrate and features, per run. */
  readonly stages: number[];
}

/** Sends a request to a pipeline that reads everything, and checks the values every time. */
function pipelineRun(name: string, app: App, pipelineName: string): PipelineRun {
  const pipeline = app.pipelines.find((one) => one.name === pipelineName);
  if (pipeline === undefined) throw new Error(`expected a pipeline ${pipelineName}`);
  const body = { candidates: ids.map((product_id) => ({ product_id })) };
  const stages: number[] = [];
  return {
    name,
    stages,
    async run() {
      const { answer, report } = await pipeline.run(body, { requestId: 'bench' });
      stages.push(report.stageMs.hydrate + report.stageMs.features);
      check(report.featureStatuses.list());
      assert.equal(answer.ranked_candidates?.[0]?.candidate_id, `product-${ROWS - 1}`);
    },
  };
}

function check(counts: readonly StatusCount[]): void {
  const of = (status: string): number =>
    counts.reduce((sum, one) => (one.status === status ? sum + one.values : sum), 0);
  assert.equal(of('expired'), (ROWS / 100) * FEATURES_OF_A_VIEW);
  assert.equal(of('missing_feature'), (ROWS / 100) * FEATURES_OF_A_VIEW);
  assert.equal(of('present'), ROWS * VIEWS * FEATURES_OF_A_VIEW - of('expired') - of('missing_feature'));
}

/**
 * Reads one hash per product, with one field per feature and one per view's time, into an object with values and
 * statuses.
 */
function hashRun(client: Redis, now: number): Contestant {
  const fields = hashFields();
  return {
    name: 'a field per feature, HMGET',
    async run() {
      const pipeline = client.pipeline();
      for (const id of ids) pipeline.hmget(`hash:${id}`, ...fields);
      const replies = (await pipeline.exec()) ?? [];
      const rows = replies.map(([, reply]) => {
        const texts = reply as (string | null)[];
        const row: Record<string, { value: number | null; status: string }> = {};
        for (let v = 0; v < VIEWS; v++) {
          const start = v * (FEATURES_OF_A_VIEW + 1);
          const time = texts[start] ?? null;
          const isExpired = time !== null && now - Number(time) > TTL;
          for (let f = 1; f <= FEATURES_OF_A_VIEW; f++) {
            const text = texts[start + f] ?? null;
            const status = text === null ? 'missing_feature' : isExpired ? 'expired' : 'present';
            row[fields[start + f] as string] = { value: status === 'present' ? Number(text) : null, status };
          }
        }
        return row;
      });
      assert.equal(rows[ROWS - 1]?.['own_4:f9']?.value, value(ROWS - 1, 4, 9));
      assert.equal(rows[7]?.['own_0:f0']?.status, 'expired');
    },
  };
}

function hashFields(): string[] {
  return views('own').flatMap((view) => [`_ts:${view}`, ...FEATURES.map((feature) => `${view}:${feature}`)]);
}

/** Writes the same values in all three layouts. */
async function load(app: App, client: Redis, url: string, now: number): Promise<void> {
  for (const [v, view] of views('own').entries()) {
    const time = (row: number): number => (isOld(row, v) ? now - 2 * TTL : now);
    const there = ids.flatMap((id, row) => (isThere(row, v) ? [{ id, row }] : []));
    await app.features.push({
      view,
      rows: there.map(({ id, row }) => ({
        product_id: id,
        event_time: time(row),
        ...Object.fromEntries(FEATURES.map((feature, f) => [feature, value(row, v, f)])),
      })),
    });
    const pipeline = client.pipeline();
    for (const { id, row } of there) {
      const fields = FEATURES.flatMap((feature, f) => [`${view}:${feature}`, String(value(row, v, f))]);
      pipeline.hset(`hash:${id}`, `_ts:${view}`, String(time(row)), ...fields);
    }
    await pipeline.exec();
    await materialise(
      url,
      there.map(({ id, row }) => ({
        keys: [['product_id', 'string', id]],
        view: `feast_${v}`,
        time: time(row),
        features: Object.fromEntries(
          FEATURES.map((feature, f) => [feature, feastValue('double_val', value(row, v, f))]),
        ),
      })),
    );
  }
}

/** Creates one pipeline per layout. Each uses all features, so all are read. */
function projectFiles(url: string): Record<string, string> {
  const view = (name: string, source: string): [string, string] => [
    `schemas/features/${name}.yaml`,
    `view: ${name}\nof: [product]\nttl: 1h\n${source}features: { ${FEATURES.map((feature) => `${feature}: float`).join(', ')} }\n`,
  ];
  const pipeline = (kind: string): string =>
    `pipeline: ${kind}
rank: product
features: [${views(kind).join(', ')}]
limits: { time: 30s }
components:
  - use: linear
    with:
      missing: 0
      weights: { ${views(kind)
        .flatMap((name) => FEATURES.map((feature) => `"${name}:${feature}": 1`))
        .join(', ')} }
  - use: score
    with: { value: linear:score }
`;
  return {
    'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
    ...Object.fromEntries(views('own').map((name) => view(name, ''))),
    ...Object.fromEntries(
      views('feast').map((name) =>
        view(name, `source: { feast: { project: shop, url: "${url}", key_version: 3 } }\n`),
      ),
    ),
    'pipelines/own.yaml': pipeline('own'),
    'pipelines/feast.yaml': pipeline('feast'),
  };
}
