import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { createApp, type App } from '../runtime/app.js';
import { STAGES } from '../runtime/pipeline/stages.js';
import type { RankingAnswer, RunReport } from '../runtime/pipeline/types.js';
import { loadSettings } from '../runtime/settings.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { naiveRank, naiveRecords, type BlobReader } from './naive/service.js';
import { candidatesOf, catalogue, type Catalogue } from './support/catalogue.js';
import { loadCatalogue } from './support/load-catalogue.js';
import { measure, median, ms, percentile, table, type Contestant } from './support/measure.js';

const PROJECT = fileURLToPath(new URL('../../bench/project', import.meta.url));

/**
 * A whole request without HTTP, from the body's text to the answer's: candidates with a nested maker and 20 batch
 * features each, ours on each store beside a naive service on the same Redis, in one run. Both read the same keys.
 */
export async function requestBench(short: boolean): Promise<void> {
  const data = catalogue(short ? 3_000 : 20_000);
  const redis = await startRedisServer();
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const client = new Redis(redis.url);
  const apps: App[] = [];
  try {
    for (const store of ['redis', 'embedded'] as const) {
      const env = { REDIS_URL: redis.url, LOG_LEVEL: 'silent' };
      apps.push(
        await createApp(loadSettings(env, { project: PROJECT, store, dataDir: join(folder, store) })),
      );
    }
    for (const app of apps) await loadCatalogue(app, data);
    await client.mset(naiveRecords(data));
    for (const count of short ? [1000] : [1000, 100, 24])
      await compare(data, count, apps, client, short ? 30 : 200);
  } finally {
    client.disconnect();
    for (const app of apps) await app.close();
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(
  data: Catalogue,
  count: number,
  apps: readonly App[],
  client: Redis,
  rounds: number,
): Promise<void> {
  const bodies = Array.from({ length: 16 }, (_, i) =>
    JSON.stringify({
      request_id: `r${i}`,
      candidates: candidatesOf(data.items, count, i),
      user_page_size: 24,
    }),
  );
  let round = 0;
  const body = (): string => bodies[round++ % bodies.length] ?? '';
  const reader: BlobReader = { mget: (keys) => client.mget([...keys]) };
  const reports = new Map<App, RunReport[]>(apps.map((app) => [app, []]));

  for (const app of apps) {
    for (const text of bodies) {
      const naive = (JSON.parse(await naiveRank(reader, text)) as RankingAnswer).ranked_candidates;
      const ours = (await rank(app, text)).answer.ranked_candidates;
      assert.deepEqual(
        ours.map((one) => one.candidate_id),
        naive.map((one) => one.candidate_id),
        'both rank alike',
      );
    }
  }

  const contestants: Contestant[] = [
    {
      name: 'naive, redis',
      run: async () => {
        await naiveRank(reader, body());
      },
    },
    ...apps.map((app) => ({
      name: `millrace, ${app.store.engine}`,
      run: async () => {
        const { answer, report } = await rank(app, body());
        JSON.stringify(answer);
        reports.get(app)?.push(report);
      },
    })),
  ];
  const measured = await measure(contestants, rounds);
  const base = median(measured[0]?.ms ?? []);
  const [first] = [...reports.values()][0] ?? [];
  console.log(`\n${count} candidates, a nested maker and 20 features each; ${rounds} rounds, milliseconds\n`);
  console.log(
    table(
      ['', 'p50', 'p99', 'of naive', 'round trips'],
      measured.map(({ name, ms: times }, i) => [
        name,
        ms(median(times)),
        ms(percentile(times, 99)),
        (median(times) / base).toFixed(2),
        i === 0 ? '2' : String(first?.roundTrips ?? 0),
      ]),
    ),
  );
  console.log(`\nkeys read by each request: ${first?.keysRead ?? 0} (naive: the same)\n`);
  console.log(
    table(
      ['stage, p50', ...apps.map((app) => app.store.engine)],
      STAGES.map(({ name }) => [
        name,
        ...apps.map((app) =>
          ms(
            median((reports.get(app) ?? []).map((report) => report.stageMs[name] ?? 0).sort((a, b) => a - b)),
          ),
        ),
      ]),
    ),
  );
}

async function rank(app: App, text: string): Promise<{ answer: RankingAnswer; report: RunReport }> {
  const [pipeline] = app.pipelines;
  if (pipeline === undefined) throw new Error('the bench project has a pipeline');
  return pipeline.run(JSON.parse(text), { requestId: randomUUID() });
}
