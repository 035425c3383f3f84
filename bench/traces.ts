import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedisServer } from '../test/support/redis-server.js';
import { measurePair, pairHead, summaryOf, type Pair, type Setup } from './support/pairs.js';
import { startSink } from './support/trace-sink.js';
import { PROJECT } from './service/data.js';
import { writeItemsProject } from './support/items-project.js';
import { table } from './support/measure.js';

/** The settings of the traced service, by the part of the requests that is recorded. */
const SAMPLED = [
  ['1 %', { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' }],
  ['100 %', { OTEL_TRACES_SAMPLER: 'always_on' }],
] as const;

/**
 * Measures what traces cost: CPU per request of two services of this build, without and with traces, on the same store,
 * project and requests. The collector runs in a process of its own. The pairs are those of `service --against`.
 */
export async function tracesBench(short: boolean): Promise<void> {
  const module = fileURLToPath(new URL('./service/millrace.js', import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  const sink = await startSink();
  try {
    await writeItemsProject(folder, PROJECT);
    const rows: string[][] = [];
    for (const count of short ? [100] : [24, 100, 1000]) {
      for (const [part, sampler] of SAMPLED) {
        const on = { MILLRACE_TRACES: 'on', OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, ...sampler };
        const setup: Setup = {
          sides: [
            { module, env: { MILLRACE_TRACES: 'off' } },
            { module, env: { OTEL_BSP_MAX_QUEUE_SIZE: '65536', ...on } },
          ],
          folder,
          redisUrl: redis.url,
        };
        const pairs: Pair[] = [];
        for (let i = 0; i < (short ? 3 : 16); i++) pairs.push(await measurePair(setup, count, i));
        const received = await sink.received();
        rows.push([part, ...summaryOf(count, pairs), (received / (1024 * pairs.length)).toFixed(0)]);
      }
    }
    console.log(table(['recorded', ...pairHead('off', 'on'), 'KiB sent/pair'], rows));
  } finally {
    sink.close();
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}
