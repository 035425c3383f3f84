import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startRedisServer } from '../../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';
import { until } from '../../support/until.js';
import type { Generator } from '../support/generator.js';
import { loadItems, writeRankingProject } from '../support/ranking-project.js';
import { clickFiles, drawEvents, redisSource, segmentCall, ShopStream } from './shop.js';

const CLIENTS = 16;
/** The rate of rankings, as a part of what the service can do. */
const SHARE = 0.25;
const USERS = 5_000;
const ITEMS = 2_000;
/** Clock ticks per second in /proc/PID/stat. */
const TICKS = 100;

/** Rankings of windows of one kind. */
export interface Rankings {
  readonly okMs: number[];
  failed: number;
  cpuMs: number;
  seconds: number;
  /** Events that the source stored. A batch is settled later, so its messages would say less. */
  events: number;
}

export interface BacklogFigures {
  readonly backlog: number;
  /** Messages that were left at the end. */
  readonly left: number;
  readonly rate: number;
  /** Windows without and with a backlog. */
  readonly calm: Rankings;
  readonly beside: Rankings;
  /** What the source does when there are no rankings. */
  readonly alone: Pick<Rankings, 'cpuMs' | 'seconds' | 'events'>;
}

/** Measures rankings beside a backlog of messages and without one, in turn. */
export async function measureBacklog(
  store: 'redis' | 'embedded',
  generator: Generator,
  { pairs, seconds, backlog }: { readonly pairs: number; readonly seconds: number; readonly backlog: number },
): Promise<BacklogFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-sources-'));
  const streams = await startRedisServer();
  const redis = store === 'redis' ? await startRedisServer() : undefined;
  const stream = new ShopStream(streams.url);
  let service: ServiceProcess | undefined;
  try {
    await stream.connect();
    await writeRankingProject(folder);
    for (const [path, content] of Object.entries(clickFiles(redisSource(streams.url)))) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    service = await startProcess(['--project', folder, '--port', '0'], {
      MILLRACE_STORE: store,
      MILLRACE_DATA_DIR: join(folder, 'data'),
      ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      LOG_LEVEL: 'info',
    });
    const started = service;
    await loadItems(started.url);
    const { port } = started;
    const draw = drawEvents(5, USERS, ITEMS);
    let added = 0;
    const add = (count: number): Promise<void> =>
      stream.add(Array.from({ length: count }, () => segmentCall(`m${added++}`, draw())));
    // Both sides compile their hot code.
    await add(10_000);
    await generator.send({ port, rate: 0, seconds: 3, clients: CLIENTS });
    await until('the first messages', () => stream.isSettled(), 60_000);
    const capacity = (await generator.send({ port, rate: 0, seconds: 2, clients: CLIENTS })).okMs.length / 2;
    const rate = SHARE * capacity;
    const calm = noRankings();
    const beside = noRankings();
    const window = async (into: Rankings): Promise<void> => {
      const before = await usageOf(started);
      const { okMs, refusedMs, failed, unanswered } = await generator.send({
        ...{ port, rate, seconds, clients: CLIENTS },
      });
      const after = await usageOf(started);
      into.okMs.push(...okMs);
      into.failed += refusedMs.length + failed + unanswered;
      into.cpuMs += after.cpuMs - before.cpuMs;
      into.events += after.events - before.events;
      into.seconds += seconds;
    };
    await stream.hide();
    await add(backlog);
    for (let pair = 0; pair < pairs; pair++) {
      await window(calm);
      await stream.show();
      await window(beside);
      await stream.hide();
      await until('the last batch', () => stream.isIdle(), 60_000);
    }
    const left = added - (await usageOf(started)).messages;
    const before = await usageOf(started);
    const began = performance.now();
    await stream.show();
    await until(
      'messages',
      async () => (await usageOf(started)).messages - before.messages > Math.min(left, 20_000) - 1,
      60_000,
    );
    const after = await usageOf(started);
    const alone = {
      cpuMs: after.cpuMs - before.cpuMs,
      seconds: (performance.now() - began) / 1000,
      events: after.events - before.events,
    };
    return { backlog, left, rate, calm, beside, alone };
  } finally {
    stream.close();
    service?.child.kill('SIGKILL');
    await service?.ended;
    await streams.remove();
    await redis?.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

const noRankings = (): Rankings => ({ okMs: [], failed: 0, cpuMs: 0, seconds: 0, events: 0 });

interface Usage {
  readonly cpuMs: number;
  /** Messages that are settled. */
  readonly messages: number;
  readonly events: number;
}

async function usageOf({ pid, url }: ServiceProcess): Promise<Usage> {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const text = await (await fetch(`${url}/metrics`)).text();
  const sum = (series: string): number =>
    [...text.matchAll(new RegExp(`^${series} (\\d+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    );
  return {
    cpuMs: ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS,
    messages: sum('millrace_source_messages_total\\{[^}]*\\}'),
    events: sum('millrace_feedback_events_total\\{[^}]*outcome="stored"[^}]*\\}'),
  };
}
