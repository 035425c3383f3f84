import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import 'reflect-metadata';
import type { Plan } from '../../../../runtime/request/compile/plan.js';
import { EventCounts } from '../../../../runtime/serve/feedback/count-events.js';
import { checkFeedback } from '../../../../runtime/serve/feedback/check-feedback.js';
import { soon } from '../../../../runtime/ground/core/pieces.js';
import { loadSchemas } from '../../../../runtime/project/config/project/load-project.js';
import type { ProjectConfig } from '../../../../runtime/project/config/model/project.js';
import { ResidentTables } from '../../../../runtime/request/resident/resident-tables.js';
import { OWN_WRITES_ONLY } from '../../../../runtime/state/store/coherence.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import type { Store } from '../../../../runtime/state/store/store.js';
import { watchWrites } from '../../../../runtime/state/store/around.js';
import { fillFrame, planOf } from '../../../support/fill-frame.js';
import { MemoryStore } from '../../../support/memory-store.js';
import { writeProject } from '../../../support/project.js';

const FILES = {
  'millrace.yaml': 'project: shop\nevents: { impression: {}, click: {} }\n',
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float }\n',
  'schemas/counters/live.yaml': `counter: live
of: [item]
features:
  clicks: { event: click, window: 24h }
  heat: { event: click, half_life: 1h }
`,
  'schemas/counters/compared.yaml': `counter: compared
of: [item]
features:
  ctr: { event: click, over: impression, window: 24h, prior: { weight: 10, mean: global } }
`,
  'schemas/counters/total.yaml':
    'counter: total\nof: []\nfeatures: { clicks: { event: click, window: 24h } }\n',
  'pipelines/items.yaml': `pipeline: items
rank: item
request: { candidates: {} }
features: [live]
components:
  - use: score
    with: { value: item.price + live:clicks + live:heat }
`,
};

const HOUR = 3_600_000;
const LEASE = 1000;

describe('counters in resident tables', () => {
  let root: string;
  let plan: Plan;
  let config: Pick<ProjectConfig, 'entities' | 'events' | 'counters'>;
  let store: MemoryStore;
  let watched: Store;
  let tables: ResidentTables;
  let followed: readonly string[];
  let now: number;
  let events: number;

  before(async () => {
    root = await writeProject(FILES);
    plan = await planOf(root);
    const loaded = await loadSchemas(root);
    if (loaded.config === undefined) throw new Error('the project has errors');
    ({ config } = loaded);
  });
  after(() => rm(root, { recursive: true, force: true }));
  beforeEach(() => {
    store = new MemoryStore();
    now = 1_800_000_000_000;
    events = 0;
    tables = tablesOf(plan);
    watched = watchWrites(store, (keys) => tables.invalidate(keys));
  });

  function tablesOf(one: Plan): ResidentTables {
    return new ResidentTables([one], {
      bytes: 10_000_000,
      counterLease: LEASE,
      coherence: (prefixes) => {
        followed = prefixes;
        return OWN_WRITES_ONLY;
      },
    });
  }

  /** Counts clicks of an item, through a store that tells this process of its writes, or not. */
  async function click(id: string, by: Store): Promise<void> {
    const parts = {
      layouts: new LayoutRegistry(store, 'millrace'),
      prefix: 'millrace',
      types: config.entities,
    };
    const counts = new EventCounts({ ...parts, counters: config.counters, clock: () => now });
    const body = {
      user: null,
      request_id: 'r',
      events: [{ type: 'click', event_id: `e${events++}`, item: { item_id: id }, time: now }],
    };
    const { entities, events: kinds } = config;
    const feedback = await soon(checkFeedback(body, { entities, kinds }, now, 0));
    await counts.count(feedback, () => [events, 1], now, by);
  }

  /** A store that does not read before `go` is called. */
  function delayed(): { slow: MemoryStore; go: () => void } {
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    const slow = Object.create(store) as MemoryStore;
    slow.readInto = async (keys, batch, first) => {
      await held;
      await MemoryStore.prototype.readInto.call(store, keys, batch, first);
    };
    return { slow, go };
  }

  async function read(
    id: string,
    of = plan,
    from = store,
  ): Promise<{ clicks: unknown; keysRead: number; heat: unknown }> {
    const body = { candidates: [{ item_id: id }] };
    const { cells, keysRead } = await fillFrame(of, from, body, { resident: tables, now });
    return { clicks: cells['live:clicks']?.[0]?.[1], heat: cells['live:heat']?.[0]?.[1], keysRead };
  }

  it('are read once, and again when this process has counted an event', async () => {
    await click('a', watched);
    expect(await read('a')).to.include({ clicks: 1, keysRead: 2 });
    expect(await read('a')).to.include({ clicks: 1, keysRead: 0 });
    await click('a', watched);
    const after = await read('a');
    expect(after, 'the attributes stay in the table').to.include({ clicks: 2, keysRead: 1 });
    await click('b', watched);
    expect(await read('a')).to.include({ clicks: 2, keysRead: 0 });
  });

  it('show what another process has counted after the lease', async () => {
    expect(await read('a')).to.include({ clicks: 0, keysRead: 2 });
    await click('a', store);
    now += LEASE;
    expect(await read('a')).to.include({ clicks: 0, keysRead: 0 });
    now += 1;
    expect(await read('a')).to.include({ clicks: 1, keysRead: 1 });
  });

  it('are not followed by invalidations of the server', () => {
    expect(followed).to.deep.equal(['millrace:entity:item:']);
  });

  it('have at every time the values that the store gives, when windows move and values decay', async () => {
    await click('a', watched);
    for (const step of [LEASE, LEASE / 2, 23 * HOUR - 700, 300, 400, HOUR - 400, 401, HOUR]) {
      now += step;
      const { clicks, heat } = await read('a');
      const direct = await fillFrame(plan, store, { candidates: [{ item_id: 'a' }] }, { now });
      expect(clicks).to.equal(direct.cells['live:clicks']?.[0]?.[1]);
      const exact = direct.cells['live:heat']?.[0]?.[1] as number;
      expect(heat).to.be.closeTo(exact, exact / 1000);
    }
  });

  it('are not replaced by what an earlier read found', async () => {
    await click('a', store);
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    const slow = Object.create(store) as MemoryStore;
    slow.readInto = async (keys, batch, first) => {
      await MemoryStore.prototype.readInto.call(store, keys, batch, first);
      await held;
    };
    const body = { candidates: [{ item_id: 'a' }] };
    const late = fillFrame(plan, slow, body, { resident: tables, now });
    now += 10;
    await click('a', store);
    expect(await read('a')).to.include({ clicks: 2 });
    go();
    await late;
    expect(await read('a')).to.include({ clicks: 2, keysRead: 0 });
  });

  it('do not decrease when an earlier request reads after a later one', async () => {
    await click('a', store);
    const { slow, go } = delayed();
    const late = read('a', plan, slow);
    now += 10;
    expect(await read('a')).to.include({ clicks: 1 });
    await click('a', store);
    go();
    const seen = (await late).clicks;
    expect((await read('a')).clicks).to.equal(seen);
    now += LEASE + 1;
    expect(await read('a')).to.include({ clicks: 2 });
  });

  it('are served and kept by their lease while invalidations are late, so that counts do not decrease', async () => {
    let isCurrent = true;
    tables = new ResidentTables([plan], {
      bytes: 10_000_000,
      counterLease: LEASE,
      coherence: () => ({ ...OWN_WRITES_ONLY, isCurrent: () => isCurrent }),
    });
    expect(await read('a')).to.include({ clicks: 0 });
    await click('a', store);
    isCurrent = false;
    expect(await read('a'), 'only the attributes are read').to.include({ clicks: 0, keysRead: 1 });
    now += LEASE + 1;
    expect(await read('a')).to.include({ clicks: 1, keysRead: 2 });
    isCurrent = true;
    expect(await read('a')).to.include({ clicks: 1, keysRead: 0 });
  });

  /** A plan that reads another counter instead of `live`. */
  async function planWith(counter: string, value: string): Promise<Plan> {
    const pipeline = FILES['pipelines/items.yaml'].replaceAll('live:clicks + live:heat', value);
    const files = { ...FILES, 'pipelines/items.yaml': pipeline.replace('[live]', `[${counter}]`) };
    const other = await writeProject(files);
    try {
      return await planOf(other);
    } finally {
      await rm(other, { recursive: true, force: true });
    }
  }

  it('are not kept if they compare with all entities, because every event changes them', async () => {
    const compared = await planWith('compared', 'compared:ctr');
    tables = tablesOf(compared);
    expect(await read('a', compared)).to.include({ keysRead: 3 });
    expect(await read('a', compared), 'the record of all entities is kept').to.include({ keysRead: 1 });
    await click('b', watched);
    expect(await read('a', compared), 'this process has counted an event').to.include({ keysRead: 2 });
  });

  describe('of all entities together', () => {
    let total: Plan;

    before(async () => {
      total = await planWith('total', 'total:clicks');
    });
    beforeEach(() => {
      tables = tablesOf(total);
    });

    async function readTotal(from: Store = store): Promise<{ clicks: unknown; keysRead: number }> {
      const body = { candidates: [{ item_id: 'a' }, { item_id: 'b' }] };
      const { cells, keysRead } = await fillFrame(total, from, body, { resident: tables, now });
      return { clicks: cells['total:clicks']?.[0]?.[1], keysRead };
    }

    it('are read once, and again when this process has counted any event', async () => {
      await click('a', watched);
      expect(await readTotal()).to.deep.equal({ clicks: 1, keysRead: 3 });
      expect(await readTotal()).to.deep.equal({ clicks: 1, keysRead: 0 });
      await click('b', watched);
      expect(await readTotal()).to.deep.equal({ clicks: 2, keysRead: 1 });
    });

    it('show what another process has counted after the lease', async () => {
      expect(await readTotal()).to.include({ clicks: 0 });
      await click('a', store);
      now += LEASE;
      expect(await readTotal()).to.include({ clicks: 0, keysRead: 0 });
      now += 1;
      expect(await readTotal()).to.include({ clicks: 1 });
    });

    it('have at every time the values that the store gives, when windows move', async () => {
      await click('a', watched);
      for (const step of [LEASE / 2, 23 * HOUR, HOUR, HOUR]) {
        now += step;
        const { clicks } = await readTotal();
        const direct = await fillFrame(total, store, { candidates: [{ item_id: 'a' }] }, { now });
        expect(clicks).to.equal(direct.cells['total:clicks']?.[0]?.[1]);
      }
    });

    /** Starts a read whose answer arrives when `go` is called. */
    function slowRead(): { late: ReturnType<typeof readTotal>; go: () => void } {
      let go: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (go = resolve));
      const slow = Object.create(store) as MemoryStore;
      slow.readInto = async (keys, batch, first) => {
        await MemoryStore.prototype.readInto.call(store, keys, batch, first);
        await held;
      };
      return { late: readTotal(slow), go };
    }

    it('are not kept by a read that an event of this process overtook', async () => {
      const { late, go } = slowRead();
      await click('a', watched);
      go();
      expect(await late).to.include({ clicks: 0 });
      expect(await readTotal()).to.include({ clicks: 1, keysRead: 1 });
    });

    it('are not replaced by what an earlier read found', async () => {
      const { late, go } = slowRead();
      now += 10;
      await click('a', store);
      expect(await readTotal()).to.include({ clicks: 1 });
      go();
      await late;
      expect(await readTotal()).to.include({ clicks: 1, keysRead: 0 });
    });

    it('do not decrease when an earlier request reads after a later one', async () => {
      const { slow, go } = delayed();
      const late = readTotal(slow);
      now += 10;
      expect(await readTotal()).to.include({ clicks: 0 });
      await click('a', store);
      go();
      const seen = (await late).clicks;
      expect((await readTotal()).clicks).to.equal(seen);
    });

    it('are not kept without a lease', async () => {
      tables = new ResidentTables([total], { bytes: 10_000_000, coherence: () => OWN_WRITES_ONLY });
      await readTotal();
      expect(await readTotal()).to.include({ keysRead: 1 });
    });
  });
});
