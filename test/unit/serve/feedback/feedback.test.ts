import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import type { Plan } from '../../../../runtime/request/compile/plan.js';
import { DEFAULT_EVENTS } from '../../../../runtime/project/config/project/load-events.js';
import { DEFAULT_EVENT_CODES } from '../../../../runtime/state/store/event-codes.js';
import { Feedback } from '../../../../runtime/serve/feedback/feedback.js';
import { decodeHistory } from '../../../../runtime/state/store/codec/history-record.js';
import { KeyLocks } from '../../../../runtime/serve/feedback/key-locks.js';
import { historyNeedsOf } from '../../../../runtime/serve/feedback/history-needs.js';
import { historyKey } from '../../../../runtime/state/store/keys.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import type { RecordSwap, SwapOutcome } from '../../../../runtime/state/store/store.js';
import { expiryOf, VERSIONED_HEAD } from '../../../../runtime/state/store/codec/versioned-record.js';
import { entityType } from '../../../support/entity-types.js';
import { MemoryStore } from '../../../support/memory-store.js';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 0, 31);
const KEY = historyKey('t', 'user', 'u');
const types = new Map(['product', 'user'].map((name) => [name, entityType(name)]));

/** A plan with steps that count events by product. */
function planCounting(...wants: readonly (readonly [string, number])[]): Plan {
  const facet = { subject: 'product', segments: ['product'], name: 'product' };
  const read = { type: 'user', wants: wants.map(([type, window]) => ({ ...facet, type, window })) };
  return { levels: [{ histories: [read] }] } as unknown as Plan;
}

function feedbackOn(store: MemoryStore, ...plans: readonly Plan[]): Feedback {
  const layouts = new LayoutRegistry(store, 't');
  const needs = historyNeedsOf(plans, DEFAULT_EVENT_CODES);
  const kinds = { kinds: DEFAULT_EVENTS, codes: DEFAULT_EVENT_CODES };
  return new Feedback({
    store,
    layouts,
    prefix: 't',
    types,
    ...kinds,
    needs,
    clock: () => NOW,
    oldestEvent: 0,
  });
}

const bodyOf = (request_id: string, ...kinds: readonly string[]): object => ({
  request_id,
  user: { user_id: 'u' },
  events: kinds.map((type) => ({ type, product: { product_id: 'p' } })),
});

/** A store in which another write sometimes precedes a swap. */
class BusyStore extends MemoryStore {
  busy = 0;

  override swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    return this.busy-- > 0 ? Promise.resolve(swaps.map(() => 'changed')) : super.swap(swaps);
  }
}

describe('the needs of histories', () => {
  it('are the longest window of each kind over all pipelines; kinds that no step counts get the longest of all', () => {
    const plans = [planCounting(['click', HOUR], ['order', 9 * HOUR]), planCounting(['click', 3 * HOUR])];
    const needs = historyNeedsOf(plans, DEFAULT_EVENT_CODES).get('user');
    expect([...(needs?.windows ?? [])]).to.deep.equal([
      [1, 3 * HOUR],
      [3, 9 * HOUR],
    ]);
    expect(needs?.longest).to.equal(9 * HOUR);
    expect([...(needs?.facetsOf(1, 'product')?.keys() ?? [])]).to.deep.equal(['product']);
    expect(needs?.facetsOf(0, 'product')).to.equal(undefined);
    expect(needs?.facetsOf(1, 'brand')).to.equal(undefined);
    expect(historyNeedsOf([], DEFAULT_EVENT_CODES).size).to.equal(0);
    const plan = { levels: [], retrieval: { plan: planCounting(['click', HOUR]) } } as unknown as Plan;
    expect(historyNeedsOf([plan], DEFAULT_EVENT_CODES).get('user')?.longest).to.equal(HOUR);
  });

  it('set the expiry of a history to the end of its longest window', async () => {
    const store = new MemoryStore();
    await feedbackOn(store, planCounting(['click', HOUR], ['order', 9 * HOUR])).record(bodyOf('r', 'click'));
    expect(expiryOf(store.records.get(KEY) ?? Buffer.alloc(0))).to.equal(NOW + 9 * HOUR);
  });

  it('do not shorten the expiry that a version with longer windows has set', async () => {
    const store = new MemoryStore();
    const expiry = (): number => expiryOf(store.records.get(KEY) ?? Buffer.alloc(0));
    await feedbackOn(store, planCounting(['click', 9 * HOUR])).record(bodyOf('r1', 'click'));
    await feedbackOn(store, planCounting(['click', HOUR])).record(bodyOf('r2', 'click'));
    expect(expiry()).to.equal(NOW + 9 * HOUR);
    for (const wrong of [NaN, Infinity, 1e300]) {
      store.records.get(KEY)?.writeDoubleLE(wrong, 8);
      await feedbackOn(store, planCounting(['click', HOUR])).record(bodyOf(`r${wrong}`, 'click'));
      expect(expiry()).to.equal(NOW + HOUR);
    }
  });

  it('include events that another version of the project counts', async () => {
    const store = new MemoryStore();
    await feedbackOn(store, planCounting(['cart', HOUR])).record(bodyOf('r', 'cart'));
    await feedbackOn(store, planCounting(['click', HOUR])).record(bodyOf('r', 'click', 'cart'));
    expect([...(decodeHistory(store.records.get(KEY) ?? Buffer.alloc(0))?.types ?? [])]).to.have.members([
      1, 2,
    ]);
  });
});

describe('feedback', () => {
  it('reads once and writes once, and writes nothing for duplicates', async () => {
    const store = new MemoryStore();
    const feedback = feedbackOn(store, planCounting(['click', HOUR]));
    await feedback.record(bodyOf('r', 'click'));
    expect(store.reads).to.equal(1);
    const before = store.records.get(KEY);
    await feedback.record(bodyOf('r', 'click'));
    expect(store.records.get(KEY)).to.equal(before);
    await feedback.record(bodyOf('r', 'impression'));
    expect(store.reads).to.equal(2);
  });

  it('retries when another write came first', async () => {
    const store = new BusyStore();
    const feedback = feedbackOn(store, planCounting(['click', HOUR]));
    store.busy = 5;
    expect((await feedback.record(bodyOf('r', 'click'))).answer.stored).to.equal(1);
    expect(decodeHistory(store.records.get(KEY) ?? Buffer.alloc(0))?.count).to.equal(1);
  });

  it('leaves a history of another format unchanged, and replaces a damaged one', async () => {
    const store = new MemoryStore();
    const feedback = feedbackOn(store, planCounting(['click', HOUR]));
    await feedback.record(bodyOf('r1', 'click'));
    const record = Buffer.from(store.records.get(KEY) ?? Buffer.alloc(0));
    const other = Buffer.from(record);
    other[VERSIONED_HEAD] = 2;
    store.records.set(KEY, other);
    const error = await feedback.record(bodyOf('r2', 'click')).catch((thrown: unknown) => thrown);
    expect((error as MillraceError).code).to.equal('record_unreadable');
    expect(store.records.get(KEY)).to.equal(other);
    store.records.set(KEY, record.subarray(0, record.length - 1));
    expect((await feedback.record(bodyOf('r3', 'click'))).answer.stored).to.equal(1);
    expect(decodeHistory(store.records.get(KEY) ?? Buffer.alloc(0))?.count).to.equal(1);
  });

  it('loses no event of many concurrent requests', async () => {
    const store = new MemoryStore();
    const feedback = feedbackOn(store, planCounting(['click', HOUR]));
    await Promise.all(Array.from({ length: 50 }, (_, i) => feedback.record(bodyOf(`r${i}`, 'click'))));
    expect(decodeHistory(store.records.get(KEY) ?? Buffer.alloc(0))?.count).to.equal(50);
  });

  it('is a 503 if the store fails, and says that it is safe to send it again', async () => {
    const store = new MemoryStore();
    store.failing = () => true;
    const feedback = feedbackOn(store, planCounting(['click', HOUR]));
    const error: unknown = await feedback.record(bodyOf('r', 'click')).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(MillraceError).with.property('code', 'store_unavailable');
    expect((error as Error).message).to.contain('it is safe to send it again');
  });
});

describe('key locks', () => {
  it('run work on one key in order, and work on other keys in parallel', async () => {
    const locks = new KeyLocks();
    const done: string[] = [];
    const work = (key: string, name: string, turns: number): Promise<void> =>
      locks.hold(key, async () => {
        done.push(`${name} begins`);
        for (let i = 0; i < turns; i++) await setImmediate();
        done.push(`${name} ends`);
      });
    await Promise.all([work('a', 'first', 5), work('a', 'second', 0), work('b', 'other', 0)]);
    expect(done).to.deep.equal([
      'first begins',
      'other begins',
      'other ends',
      'first ends',
      'second begins',
      'second ends',
    ]);
  });

  it('continue after failed work', async () => {
    const locks = new KeyLocks();
    const failing = locks.hold('a', () => Promise.reject(new Error('on purpose')));
    const next = locks.hold('a', () => Promise.resolve('done'));
    expect(await failing.catch((error: unknown) => (error as Error).message)).to.equal('on purpose');
    expect(await next).to.equal('done');
  });
});
