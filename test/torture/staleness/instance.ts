import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createApp } from '../../../runtime/serve/app/app.js';
import type { App } from '../../../runtime/serve/app/running-app.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';
import { until } from '../../support/until.js';
import { idOf, type Command, type InstanceData, type PhaseFigures } from './instance-data.js';
import { monotonic, SharedHistory } from './shared-history.js';

/** The model of features never reaches this, so that both versions fit into one score. */
const FEATURE = 1e7;
const CANDIDATES = 16;

const data = workerData as InstanceData;
const history = new SharedHistory(data.items, data.memory);
const port = parentPort;
if (port === null) throw new Error('this is the code of a thread');

const app = await createApp(loadSettings(data.env, { project: data.project }));
port.on('message', (command: Command) => {
  void answer(command).then((result) => {
    port.postMessage(result);
    if (command.do === 'stop') port.close();
  });
});
port.postMessage('ready');

async function answer(command: Command): Promise<unknown> {
  if (command.do === 'run') return phase(app, command.milliseconds, command.calls);
  if (command.do === 'versions') return versions(app);
  await app.close();
  return 'stopped';
}

/** Random readers and writers until the time is over or so many calls are made. */
async function phase(service: App, milliseconds: number, calls: number): Promise<PhaseFigures> {
  const started = monotonic();
  const end = started + milliseconds;
  const before = counts(service);
  const seen = { rankings: 0, writes: 0, violations: 0, torn: 0, foreign: 0 };
  const lags: number[] = [];
  const failures: string[] = [];
  let failed = 0;
  let lastFailed = 0;
  const fail = async (error: unknown): Promise<void> => {
    if (failed++ < 5) failures.push(String(error));
    lastFailed = monotonic() - started;
    await pause(5);
  };
  const goesOn = (): boolean => monotonic() < end && seen.rankings + seen.writes < calls;

  const write = async (writer: number): Promise<void> => {
    const versions = new Map<number, number>();
    while (goesOn()) {
      const item = writer + data.instances * data.writers * Math.floor(Math.random() * ownItems(writer));
      const version = (versions.get(item) ?? history.acknowledged(item)) + 1;
      versions.set(item, version);
      try {
        await upload(service, item, version);
        history.acknowledge(item, version);
      } catch (error) {
        await fail(error);
      }
      seen.writes++;
      await pause(Math.random() * 4);
    }
  };

  const read = async (): Promise<void> => {
    const expected = new Int32Array(CANDIDATES);
    while (goesOn()) {
      const items = sample();
      items.forEach((item, i) => (expected[i] = history.acknowledged(item)));
      const began = monotonic();
      seen.rankings++;
      const scores = await rank(service, items).catch(fail);
      if (scores !== undefined) {
        items.forEach((item, i) => {
          const version = scores.get(item) ?? NaN;
          const isOurs = writerOf(item) % data.instances === data.number;
          if (!(version >= 0)) seen.torn++;
          else if (isOurs) seen.violations += version < (expected[i] ?? 0) ? 1 : 0;
          else {
            seen.foreign++;
            if (version < (expected[i] ?? 0)) lags.push(began - history.timeOf(item, version + 1));
          }
        });
      }
      await turn();
    }
  };

  const work: Promise<void>[] = [];
  for (let i = 0; i < data.writers; i++) work.push(write(data.number + data.instances * i));
  for (let i = 0; i < data.readers; i++) work.push(read());
  await Promise.all(work);
  const after = counts(service);
  return {
    ...seen,
    lags,
    failed,
    lastFailed,
    failures,
    hits: after.hits - before.hits,
    misses: after.misses - before.misses,
    bypasses: after.bypasses - before.bypasses,
    flushes: after.flushes - before.flushes,
  };
}

/** Attributes and features carry the version twice each: what agrees in a ranking was read whole. */
async function upload(service: App, item: number, version: number): Promise<void> {
  const item_id = idOf(item);
  const twin = Math.floor(Math.random() * 2) === 0;
  const entity = (): Promise<unknown> =>
    service.entities.upload({
      entity_type: 'item',
      entities: [{ item_id, v: version, text: `version ${version}`, w: version }],
    });
  const features = (): Promise<unknown> =>
    service.features.push({ view: 'stats', rows: [{ item_id, v: version, w: version }] });
  // Both are acknowledged before the version is.
  if (twin) {
    // Both are waited for, also where one fails: the next write of the item must not come beside them.
    const outcomes = await Promise.allSettled([entity(), features()]);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  } else {
    await features();
    await entity();
  }
}

/** The older of the versions that attributes and features show, by item; -1 where two that go together differ. */
async function rank(service: App, items: readonly number[]): Promise<Map<number, number>> {
  const [pipeline] = service.pipelines;
  if (pipeline === undefined) throw new Error('the project has a pipeline');
  const body = {
    candidates: items.map((item) => ({ item_id: idOf(item) })),
    user_page_size: items.length,
  };
  const { answer: page } = await pipeline.run(body, { requestId: 'r' });
  return new Map(
    (page.ranked_candidates ?? []).map(({ candidate_id, ranked_score }) => {
      const item = Number(candidate_id.slice(candidate_id.lastIndexOf(',') + 1));
      const attribute = Math.floor(ranked_score / FEATURE);
      const feature = ranked_score - attribute * FEATURE;
      return [item, ranked_score < 0 ? -1 : Math.min(attribute, feature)];
    }),
  );
}

/** The version that each item shows, tried for a while where a ranking fails. */
async function versions(service: App): Promise<number[]> {
  const seen: number[] = [];
  for (let first = 0; first < data.items; first += 100) {
    const items = Array.from({ length: Math.min(100, data.items - first) }, (_, i) => first + i);
    await until('a ranking', async () => {
      const scores = await rank(service, items).catch(() => undefined);
      for (const [item, version] of scores ?? []) seen[item] = version;
      return scores !== undefined;
    });
  }
  return seen;
}

function sample(): number[] {
  const items = new Set<number>();
  while (items.size < CANDIDATES) items.add(Math.floor(Math.random() * data.items));
  return [...items];
}

function writerOf(item: number): number {
  return item % (data.instances * data.writers);
}

function ownItems(writer: number): number {
  return Math.ceil((data.items - writer) / (data.instances * data.writers));
}

function counts(service: App): { hits: number; misses: number; bypasses: number; flushes: number } {
  const sums = { hits: 0, misses: 0, bypasses: 0, flushes: 0 };
  for (const state of service.resident.states()) {
    sums.hits += state.hits;
    sums.misses += state.misses;
    sums.bypasses += state.bypasses;
    sums.flushes += state.flushes;
  }
  return sums;
}
