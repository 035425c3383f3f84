import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import 'reflect-metadata';
import { loadProject } from '../../../../runtime/project/config/project/load-project.js';
import { EntityIndex } from '../../../../runtime/state/index/entity-index.js';
import { FeatureStore } from '../../../../runtime/state/index/feature-store.js';
import { BatchRead } from '../../../../runtime/request/pipeline/hydrate/batch-read.js';
import { Deadline } from '../../../../runtime/ground/core/deadline.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import type { RecordBatch } from '../../../../runtime/state/store/codec/record-batch.js';
import { ANY_EVENT_TIME } from '../../../support/any-event-time.js';
import { fillFrame, planOf } from '../../../support/fill-frame.js';
import { MemoryStore } from '../../../support/memory-store.js';
import { writeProject } from '../../../support/project.js';

const KEYS = Array.from({ length: 600 }, (_, i) => `k${String(i)}`);

/** A store that answers each read after its own delay. */
class SlowStore extends MemoryStore {
  /** Milliseconds, by read; a negative delay makes the read fail. */
  delays: number[] = [];

  override async readInto(keys: readonly string[], batch: RecordBatch, first: number): Promise<void> {
    const delay = this.delays[this.reads++] ?? 0;
    await pause(Math.abs(delay));
    if (delay < 0) throw new Error('lost');
    keys.forEach((key, i) => {
      const record = this.records.get(key) ?? null;
      batch.put(first + i, record, 0, record?.length ?? 0);
    });
  }
}

describe('the reads of a request', () => {
  let store: SlowStore;
  let deadline: Deadline;
  let batch: BatchRead;
  const text = (number: number): string | undefined => batch.records.record(number)?.toString();

  beforeEach(() => {
    store = new SlowStore();
    for (const key of KEYS) store.records.set(key, Buffer.from(`value of ${key}`));
    deadline = new Deadline(10_000);
    batch = new BatchRead(store, deadline);
  });
  afterEach(() => deadline.end());

  for (const delays of [
    [0, 10, 5],
    [10, 0, 0],
    [5, 20, 0],
  ]) {
    it(`finds every value under its number for any order of replies: ${delays.join(', ')}`, async () => {
      store.delays = delays;
      const numbers = KEYS.slice(0, 300).map((key) => batch.askDistinct(key));
      batch.defer();
      numbers.push(...KEYS.slice(300, 599).map((key) => batch.ask(key)));
      await batch.roundTrip();
      expect(numbers.slice(0, 300).map(text)).to.deep.equal(
        KEYS.slice(0, 300).map((key) => `value of ${key}`),
      );
      const earlier = batch.rest();
      const late = batch.ask(KEYS[599] ?? '');
      expect(batch.ask(KEYS[300] ?? ''), 'asked for already').to.equal(numbers[300]);
      await Promise.all([batch.roundTrip(), earlier]);
      expect([...numbers, late].map(text)).to.deep.equal(KEYS.map((key) => `value of ${key}`));
      expect([batch.roundTrips, batch.keysRead, store.reads]).to.deep.equal([2, 600, 3]);
    });
  }

  it('reads a few keys all at once', async () => {
    batch.ask('k1');
    batch.defer();
    const number = batch.ask('k2');
    await batch.roundTrip();
    expect(text(number)).to.equal('value of k2');
    expect(store.reads).to.equal(1);
    await batch.roundTrip();
    expect([batch.roundTrips, store.reads]).to.deep.equal([1, 1]);
  });

  it('reports a failed deferred read once, to its awaiting caller', async () => {
    store.delays = [5, -1];
    KEYS.slice(0, 300).forEach((key) => batch.ask(key));
    batch.defer();
    batch.ask('k400');
    await batch.roundTrip();
    const error: unknown = await batch.rest()?.catch((reason: unknown) => reason);
    expect(String(error)).to.equal('Error: lost');
    await batch.rest();
  });

  it('leaves no unhandled rejection if the first read also failed', async () => {
    store.delays = [-5, -1];
    KEYS.slice(0, 300).forEach((key) => batch.ask(key));
    batch.defer();
    batch.ask('k400');
    expect(String(await batch.roundTrip()?.catch(String))).to.equal('Error: lost');
    await pause(10); // mocha fails a run on an unhandled rejection
  });
});

describe('a request with many candidates', () => {
  const FILES = {
    'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float, maker: ref(maker) }\n',
    'schemas/entities/maker.yaml': 'entity: maker\nattributes: { rating: float }\n',
    'schemas/features/stats.yaml':
      'view: stats\nof: [item]\nfeatures: { a: float, b: { type: int, default: 7 } }\n',
    'schemas/features/fame.yaml': 'view: fame\nof: [maker]\nfeatures: { a: float }\n',
    'pipelines/all.yaml': `pipeline: all
rank: item
request: { candidates: {} }
limits: { candidates: 1000, time: 50s }
features: [stats, { fame: fame(item.maker) }]
components:
  - use: score
    with: { value: item.price + item.maker.rating + stats:a + stats:b + fame:a }
`,
  };

  it('is filled like the same candidates in small requests', async () => {
    const root = await writeProject(FILES);
    try {
      const plan = await planOf(root);
      const { config } = await loadProject(root);
      if (config === undefined) throw new Error('the project is valid');
      const store = new SlowStore();
      const layouts = new LayoutRegistry(store, plan.prefix);
      const parts = { store, layouts, prefix: plan.prefix, types: config.entities };
      const entities = new EntityIndex(parts);
      const features = new FeatureStore({
        ...parts,
        views: config.views,
        eventTimes: ANY_EVENT_TIME,
        clock: () => 0,
      });
      const items = Array.from({ length: 700 }, (_, i) => ({
        item_id: `i${String(i)}`,
        ...(i % 7 === 0 ? {} : { price: i, maker: `m${String(i % 300)}` }),
      }));
      await entities.upload({ entity_type: 'item', entities: items.filter((_, i) => i % 11 !== 0) });
      await entities.upload({
        entity_type: 'maker',
        entities: Array.from({ length: 290 }, (_, i) => ({ maker_id: `m${String(i)}`, rating: i })),
      });
      await features.push({
        view: 'stats',
        rows: items.flatMap(({ item_id }, i) => (i % 5 === 0 ? [] : [{ item_id, a: -i, b: 2 * i }])),
      });
      await features.push({
        view: 'fame',
        rows: Array.from({ length: 280 }, (_, i) => ({ maker_id: `m${String(i)}`, a: i / 2 })),
      });
      const candidates = items.map(({ item_id }) => ({ item_id }));
      const small: Record<string, unknown[]> = {};
      for (let i = 0; i < candidates.length; i += 100) {
        const { cells } = await fillFrame(plan, store, { candidates: candidates.slice(i, i + 100) });
        for (const [name, column] of Object.entries(cells)) (small[name] ??= []).push(...column);
      }
      expect(Object.keys(small)).to.have.length.greaterThan(5);
      for (const delays of [[], [0, 15, 5, 0], [15, 0, 0, 10]]) {
        store.delays = delays;
        store.reads = 0;
        const { cells, roundTrips } = await fillFrame(plan, store, { candidates });
        expect(cells).to.deep.equal(small);
        expect([roundTrips, store.reads]).to.deep.equal([2, 4]);
      }
      const filled: string[] = [];
      const clock = {
        count: <T>(stage: string, work: () => T): T => {
          filled.push(stage);
          return work();
        },
      };
      await fillFrame(plan, store, { candidates }, { clock, onHydrated: () => filled.push('hydrated') });
      expect(filled, 'the time of the features of both levels').to.deep.equal([
        'features',
        'hydrated',
        'features',
      ]);
      store.delays = [0, -5, 20];
      store.reads = 0;
      const error: unknown = await fillFrame(plan, store, { candidates }).catch(String);
      expect(error).to.equal('Error: lost');
      await pause(30); // mocha fails a run on an unhandled rejection
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});
