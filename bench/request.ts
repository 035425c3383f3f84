import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { createApp } from '../runtime/serve/app/app.js';
import type { App } from '../runtime/serve/app/running-app.js';
import { STAGES } from '../runtime/request/pipeline/stages.js';
import type { RunReport } from '../runtime/request/pipeline/types.js';
import type { PipelineAnswer, RankingAnswer } from '../runtime/request/pipeline/answer-types.js';
import { loadSettings } from '../runtime/project/settings/settings.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { naiveRank, naiveRecords, type BlobReader } from './naive/service.js';
import { candidatesOf, catalogue, type Catalogue } from './support/catalogue.js';
import { loadCatalogue } from './support/load-catalogue.js';
import { measure, median, ms, percentile, table, type Contestant } from './support/measure.js';

const PROJECT = fileURLToPath(new URL('../../bench/project', import.meta.url));

/** A Millrace app on a store, with or without resident tables. */
interface Ours {
  readonly name: string;
  readonly app: App;
}

const VARIANTS = [
  { name: 'redis, no tables', store: 'redis', resident: 'off' },
  { name: 'redis, warm', store: 'redis', resident: 'all' },
  { name: 'embedded, warm', store: 'embedded', resident: 'all' },
] as const;

/**
 * Measures a whole request without HTTP, from the text of the body to the text of the answer. Each candidate has a
 * nested maker and 20 batch features. A naive service runs on the same Redis in the same run. Without resident tables
 * Millrace reads the same keys as the naive service, in one round trip per level. With warm tables it reads none.
 */
export async function requestBench(short: boolean): Promise<void> {
  const data = catalogue(short ? 3_000 : 20_000);
  const redis = await startRedisServer();
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const client = new Redis(redis.url);
  const ours: Ours[] = [];
  try {
    for (const { name, store, resident } of VARIANTS) {
      const env = { REDIS_URL: redis.url, LOG_LEVEL: 'silent', MILLRACE_RESIDENT: resident };
      const settings = loadSettings(env, { project: PROJECT, store, dataDir: join(folder, store) });
      ours.push({ name, app: await createApp(settings) });
    }
    for (const { app } of ours) await loadCatalogue(app, data);
    await client.mset(naiveRecords(data));
    for (const count of short ? [1000] : [1000, 100, 24])
      await compare(data, count, ours, client, short ? 30 : 200);
  } finally {
    client.disconnect();
    for (const { app } of ours) await app.close();
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(
  data: Catalogue,
  count: number,
  ours: readonly Ours[],
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
  const reports = ours.map((): RunReport[] => []);

  for (const { app } of ours) {
    for (const text of bodies) {
      const naive = (JSON.parse(await naiveRank(reader, text)) as RankingAnswer).ranked_candidates;
      const answered = (await rank(app, text)).answer.ranked_candidates ?? [];
      assert.deepEqual(
        answered.map((one) => one.candidate_id),
        naive.map((one) => one.candidate_id),
        'both give the same ranking',
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
    ...ours.map(({ name, app }, i) => ({
      name: `millrace, ${name}`,
      run: async () => {
        const { answer, report } = await rank(app, body());
        JSON.stringify(answer);
        reports[i]?.push(report);
      },
    })),
  ];
  const measured = await measure(contestants, rounds);
  const base = median(measured[0]?.ms ?? []);
  console.log(`\n${count} candidates, a nested maker and 20 features each; ${rounds} rounds, milliseconds\n`);
  console.log(
    table(
      ['', 'p50', 'p99', 'of naive', 'round trips', 'keys read'],
      measured.map(({ name, ms: times }, i) => [
        name,
        ms(median(times)),
        ms(percentile(times, 99)),
        (median(times) / base).toFixed(2),
        // The naive service reads the same as Millrace without tables: two round trips and the same number of keys.
        ...(i === 0
          ? ['2', middle(reports[0], 'keysRead')]
          : [middle(reports[i - 1], 'roundTrips'), middle(reports[i - 1], 'keysRead')]),
      ]),
    ),
  );
  console.log('');
  console.log(
    table(
      ['stage, p50', ...ours.map(({ name }) => name)],
      STAGES.map(({ name }) => [
        name,
        ...reports.map((all) => ms(median(all.map((report) => report.stageMs[name]).sort((x, y) => x - y)))),
      ]),
    ),
  );
}

/** Returns the median of a count over the reports. */
function middle(reports: readonly RunReport[] | undefined, count: 'roundTrips' | 'keysRead'): string {
  return String(median((reports ?? []).map((report) => report[count]).sort((a, b) => a - b)));
}

async function rank(app: App, text: string): Promise<{ answer: PipelineAnswer; report: RunReport }> {
  const [pipeline] = app.pipelines;
  if (pipeline === undefined) throw new Error('expected a pipeline in the bench project');
  return pipeline.run(JSON.parse(text), { requestId: randomUUID() });
}
