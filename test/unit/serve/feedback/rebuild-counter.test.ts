import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CounterDefinition } from '../../../../runtime/project/config/model/counters.js';
import { DEFAULT_EVENTS } from '../../../../runtime/project/config/project/load-events.js';
import { addEvents } from '../../../../runtime/state/counters/apply-touches.js';
import { additionsOf, kindsOf } from '../../../../runtime/state/counters/counted-kinds.js';
import { CounterDecoder } from '../../../../runtime/state/counters/counter-decoder.js';
import {
  changeGenerations,
  followGenerations,
  readGenerations,
} from '../../../../runtime/state/counters/generation-record.js';
import { Generations, NEVER } from '../../../../runtime/state/counters/generations.js';
import { isFilled, rebuildCounter } from '../../../../runtime/serve/feedback/rebuild-counter.js';
import { looseColumn } from '../../../../runtime/language/frame/frame.js';
import { encodeCounters, NO_COUNTERS } from '../../../../runtime/state/store/codec/counter-record.js';
import { counterKey } from '../../../../runtime/state/store/keys.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import { entityType } from '../../../support/entity-types.js';
import { DAY, HOUR, MadeLedger, START } from '../../../support/made-ledger.js';
import { MemoryStore } from '../../../support/memory-store.js';

const at = undefined as never;
const CLICKS = {
  ...{ name: 'clicks', event: 'click', value: { kind: 'count' as const }, window: 7 * DAY, at },
  ...{ halfLife: undefined, over: undefined, prior: undefined, expected: false },
};
const COUNTER: CounterDefinition = {
  ...{ name: 'live', of: ['user', 'product'], by: [['user'], ['product']], ttl: 30 * DAY, at },
  features: new Map([['clicks', CLICKS]]),
};
const types = new Map(['product', 'user'].map((name) => [name, entityType(name)]));

/** The clicks of a user on a product, as a service reads them. */
async function clicksOf(store: MemoryStore, user: string, product: string): Promise<number | undefined> {
  const generations = new Generations();
  const end = await followGenerations(generations, store, 't', () => undefined);
  end();
  const decoder = new CounterDecoder([{ counter: COUNTER, feature: CLICKS }], generations);
  const column = looseColumn({ kind: 'number', scope: 'candidate' }, 1);
  const record = store.records.get(counterKey('t', ['user', 'product'], [user, product])) ?? null;
  decoder.begin(null, 0, 0, START);
  decoder.decode(record, 0, record?.length ?? 0, [column], 0);
  return column.kind === 'number' ? column.values[0] : undefined;
}

describe('the rebuild of a counter', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'millrace-rebuild-'))));
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('counts every event of the ledger once, and then replaces the counts that serve', async () => {
    const ledger = new MadeLedger();
    const click = { event: 'click', subject: 'p1', user: 'u1' };
    ledger.feedback({ ...click, time: START - HOUR, request: 'r1' });
    ledger.feedback({ ...click, time: START - HOUR, request: 'r1' }); // sent again
    ledger.feedback({ ...click, time: START - 2 * DAY, request: 'r2' });
    ledger.feedback({ ...click, time: START - 8 * DAY, request: 'r3' }); // outside the window
    ledger.feedback({ ...click, time: START - HOUR, request: 'r1', subject: 'p2' });
    ledger.feedback({ ...click, time: START - HOUR, request: 'r4', event: 'order' });
    ledger.feedback({ event: 'click', subject: 'p1', time: START - HOUR, request: 'r5' }); // no user
    ledger.feedback({ ...click, time: START - HOUR, request: 'r6', received: START + 1 }); // counted live
    ledger.write(folder);

    const store = new MemoryStore();
    const key = counterKey('t', ['user', 'product'], ['u1', 'p1']);
    const [kind] = kindsOf([[COUNTER, 0]]).get('click') ?? [];
    const event = {
      ...{ event: 'click', subject: { type: 'product', id: 'p1' }, owners: [{ type: 'user', id: 'u1' }] },
      ...{ quantity: 1, position: undefined, values: new Map<never, never>() },
    };
    const touch = {
      identity: [1, 2] as const,
      time: START,
      additions: additionsOf(kind?.entity ?? [], event),
    };
    const { record } = addEvents(NO_COUNTERS, [touch, touch, touch, touch, touch], START);
    store.records.set(key, encodeCounters(record, START + DAY));
    expect(await clicksOf(store, 'u1', 'p1')).to.equal(5);

    const parts = { store, layouts: new LayoutRegistry(store, 't'), prefix: 't', types };
    const options = { kinds: DEFAULT_EVENTS, ledger: folder, isShared: false, clock: () => START };
    const rebuilt = await rebuildCounter(COUNTER, { ...parts, ...options });
    expect(rebuilt).to.deep.include({ counter: 'live', events: 4, keys: 2 });
    expect(await clicksOf(store, 'u1', 'p1')).to.equal(2);
    expect(await clicksOf(store, 'u1', 'p2')).to.equal(1);
    await rebuildCounter(COUNTER, { ...parts, ...options });
    expect(await clicksOf(store, 'u1', 'p1')).to.equal(2);
  });

  it('counts an event by its id, also one that was stored before its body was answered with an error', async () => {
    const ledger = new MadeLedger();
    const click = { event: 'click', subject: 'p1', user: 'u1', time: START - HOUR, request: 'r1' };
    ledger.feedback({ ...click, outcome: 'duplicate' });
    ledger.feedback({ ...click, id: 'e1' });
    ledger.feedback({ ...click, id: 'e2', outcome: 'too_old' });
    ledger.feedback({ ...click, id: 'e1', time: START - 2 * HOUR, request: 'r2', outcome: 'too_old' });
    ledger.write(folder);
    const store = new MemoryStore();
    const parts = { store, layouts: new LayoutRegistry(store, 't'), prefix: 't', types };
    const options = { kinds: DEFAULT_EVENTS, ledger: folder, isShared: false, clock: () => START };
    expect(await rebuildCounter(COUNTER, { ...parts, ...options })).to.deep.include({ events: 3 });
    expect(await clicksOf(store, 'u1', 'p1')).to.equal(3);
  });

  it('counts events of two users at one time, and each of them once', async () => {
    const ledger = new MadeLedger();
    const click = { event: 'click', subject: 'p1', time: START - HOUR };
    for (const user of ['u1', 'u2', 'u1']) ledger.feedback({ ...click, user });
    ledger.write(folder);
    const store = new MemoryStore();
    const parts = { store, layouts: new LayoutRegistry(store, 't'), prefix: 't', types };
    const options = { kinds: DEFAULT_EVENTS, ledger: folder, isShared: false, clock: () => START };
    expect(await rebuildCounter(COUNTER, { ...parts, ...options })).to.deep.include({ events: 2, keys: 2 });
    expect(await clicksOf(store, 'u2', 'p1')).to.equal(1);
  });

  it('leaves the counts that serve if another rebuild of the counter began meanwhile', async () => {
    const ledger = new MadeLedger();
    ledger.feedback({ event: 'click', subject: 'p1', user: 'u1', time: START - HOUR, request: 'r1' });
    ledger.write(folder);
    const store = new MemoryStore();
    const parts = { store, layouts: new LayoutRegistry(store, 't'), prefix: 't', types };
    let times = 0;
    const building = { generation: 2, from: START };
    const clock = (): number => {
      // The second time is that of the write of the events.
      if (++times === 2) void changeGenerations(store, 't', 'live', ({ serving }) => ({ serving, building }));
      return START;
    };
    const options = { kinds: DEFAULT_EVENTS, ledger: folder, isShared: false, clock };
    expect(await rebuildCounter(COUNTER, { ...parts, ...options })).to.equal(undefined);
    expect(await changeGenerations(store, 't', 'live', (before) => before)).to.deep.equal({
      serving: 0,
      building,
    });
  });

  it('counts anew after a rebuild that failed when it had stored a part', async () => {
    const ledger = new MadeLedger();
    ledger.feedback({ event: 'click', subject: 'p1', user: 'u1', time: START - HOUR, request: 'r1' });
    ledger.write(folder);
    const store = new MemoryStore();
    const parts = { store, layouts: new LayoutRegistry(store, 't'), prefix: 't', types };
    const options = { kinds: DEFAULT_EVENTS, ledger: folder, isShared: false, clock: () => START };
    const key = counterKey('t', ['user', 'product'], ['u1', 'p1']);
    const swap = store.swap.bind(store);
    store.swap = async (swaps) => {
      const outcomes = await swap(swaps);
      if (swaps.some((one) => one.key === key)) throw new Error('the store has gone away');
      return outcomes;
    };
    const failed = await rebuildCounter(COUNTER, { ...parts, ...options }).catch(String);
    expect(failed).to.equal('Error: the store has gone away');
    expect(await readGenerations(store, 't', 'live')).to.deep.equal({
      serving: 0,
      building: { generation: 1, from: NEVER },
    });
    store.swap = swap;
    await rebuildCounter(COUNTER, { ...parts, ...options });
    expect(await readGenerations(store, 't', 'live')).to.deep.equal({ serving: 2 });
    expect(await clicksOf(store, 'u1', 'p1')).to.equal(1);
  });

  it('is filled while its process tells that it is alive, which it does as it reads the ledger', async () => {
    const ledger = new MadeLedger();
    for (const at of Array(60).keys())
      ledger.feedback({
        event: 'click',
        subject: `p${at}`,
        user: 'u1',
        time: START - HOUR,
        request: `r${at}`,
      });
    ledger.write(folder);
    const store = new MemoryStore();
    const parts = { store, layouts: new LayoutRegistry(store, 't'), prefix: 't', types };
    let [now, silent] = [START, false];
    const options = {
      ...{ kinds: DEFAULT_EVENTS, ledger: folder, isShared: false, clock: () => now },
      // A record takes a second.
      tell: () => {
        now += 1000;
        void readGenerations(store, 't', 'live').then(
          ({ building }) => (silent ||= !isFilled(building, now)),
        );
      },
    };
    expect(await rebuildCounter(COUNTER, { ...parts, ...options })).to.include({ events: 60 });
    expect(silent).to.equal(false);
    now = START;
    expect(isFilled(undefined, now)).to.equal(false);
    expect(isFilled({ generation: 1, from: NEVER }, now)).to.equal(false);
    expect(isFilled({ generation: 1, from: now + 5000 }, now)).to.equal(true);
    expect(isFilled({ generation: 1, from: now - HOUR }, now)).to.equal(false);
    expect(isFilled({ generation: 1, from: now - HOUR, alive: now - 5000 }, now)).to.equal(true);
    expect(isFilled({ generation: 1, from: now - HOUR, alive: now - 60_000 }, now)).to.equal(false);
  });
});
