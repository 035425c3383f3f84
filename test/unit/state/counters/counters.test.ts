import { expect } from 'chai';
import fc from 'fast-check';
import type { CounterDefinition, CounterFeature } from '../../../../runtime/project/config/model/counters.js';
import type { Touch } from '../../../../runtime/state/counters/apply-touches.js';
import { additionsOf, CountedKinds } from '../../../../runtime/state/counters/counted-kinds.js';
import { CounterDecoder } from '../../../../runtime/state/counters/counter-decoder.js';
import { CounterWriter } from '../../../../runtime/state/counters/counter-writer.js';
import { FIRST_GENERATIONS } from '../../../../runtime/state/counters/generations.js';
import { looseColumn } from '../../../../runtime/language/frame/frame.js';
import { isKnown } from '../../../../runtime/ground/api/status.js';
import { decodeCounters, encodeCounters } from '../../../../runtime/state/store/codec/counter-record.js';
import { counterKey, markKey, partsOf } from '../../../../runtime/state/store/keys.js';
import type { MarkedIds, RecordSwap, SwapOutcome } from '../../../../runtime/state/store/store.js';
import { MemoryStore } from '../../../support/memory-store.js';
import { oracleValue, type RawEvent } from './oracle.js';
import { draws } from '../../../support/draws.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 0, 31);
const ALL = counterKey('t', [], []);
const at = undefined as never;

const feature = (name: string, over: Partial<CounterFeature>): CounterFeature => ({
  name,
  event: 'click',
  value: { kind: 'count' },
  window: undefined,
  halfLife: undefined,
  over: undefined,
  prior: undefined,
  expected: false,
  at,
  ...over,
});

const FEATURES = [
  feature('clicks_1h', { window: HOUR }),
  feature('clicks_1d', { window: 24 * HOUR }),
  feature('heat', { halfLife: HOUR }),
  feature('revenue', { event: 'order', window: 6 * HOUR, value: { kind: 'sum', of: 'revenue' } }),
  feature('items', { event: 'order', window: 6 * HOUR, value: { kind: 'sum', of: 'quantity' } }),
  feature('buyers', { event: 'order', window: 6 * HOUR, value: { kind: 'distinct', of: 'user' } }),
  feature('last', { value: { kind: 'last' } }),
  feature('last_1h', { value: { kind: 'last' }, window: HOUR }),
  feature('ctr', { over: 'impression', window: HOUR }),
  feature('ctr_prior', { over: 'impression', window: HOUR, prior: { weight: 10, mean: 0.1 } }),
  feature('ctr_global', { over: 'impression', window: 24 * HOUR, prior: { weight: 10, mean: 'global' } }),
  feature('coec', { over: 'impression', window: 24 * HOUR, expected: true }),
  feature('coec_prior', {
    over: 'impression',
    halfLife: HOUR,
    expected: true,
    prior: { weight: 5, mean: 'global' },
  }),
];

const COUNTER: CounterDefinition = {
  name: 'live',
  of: ['brand'],
  by: [['brand']],
  ttl: 24 * HOUR,
  features: new Map(FEATURES.map((one) => [one.name, one])),
  at,
};

const kinds = new CountedKinds(new Map([['live', COUNTER]]), FIRST_GENERATIONS);

/** What one event changes, by key. */
function touchesOf(event: RawEvent): Map<string, Touch> {
  const identity = [event.id, 7] as const;
  const touches = new Map<string, Touch>();
  for (const { entity, all } of kinds.of(event.event, 0)) {
    touches.set(event.key, { identity, time: event.time, additions: additionsOf(entity, event) });
    touches.set(ALL, { identity, time: event.time, additions: additionsOf(all, event) });
  }
  return touches;
}

async function countAll(
  writer: CounterWriter,
  events: readonly RawEvent[],
  store: MemoryStore,
): Promise<string[]> {
  const done = await Promise.all(
    events.map(async (event) => {
      const touches = Array.from(touchesOf(event), ([key, touch]) => ({ key, ...touch }));
      const outcomes = await writer.count(touches, store);
      return outcomes.includes('stored') ? 'stored' : 'duplicate';
    }),
  );
  return done;
}

/** The value of every feature as a ranking reads it; undefined for a missing one. */
function valuesAt(store: MemoryStore, key: string, now: number): Record<string, number | undefined> {
  const decoder = new CounterDecoder(FEATURES.map((one) => ({ counter: COUNTER, feature: one })));
  const columns = FEATURES.map(() => looseColumn({ kind: 'number', scope: 'candidate' }, 1));
  const all = store.records.get(ALL) ?? null;
  decoder.begin(all, 0, all?.length ?? 0, now);
  const record = store.records.get(key) ?? null;
  decoder.decode(record, 0, record?.length ?? 0, columns, 0);
  return Object.fromEntries(
    FEATURES.map(({ name }, i) => {
      const column = columns[i];
      if (column?.kind !== 'number') throw new Error('expected a column of numbers');
      return [name, isKnown(column.status[0]) ? column.values[0] : undefined];
    }),
  );
}

const anyEvent = (id: number): fc.Arbitrary<RawEvent> =>
  fc.record({
    id: fc.constant(id),
    key: fc.constantFrom(counterKey('t', ['brand'], ['a']), counterKey('t', ['brand'], ['b'])),
    event: fc.constantFrom('impression', 'click', 'order'),
    time: fc.integer({ min: NOW - 30 * HOUR, max: NOW + 5 * MINUTE }),
    quantity: fc.integer({ min: 1, max: 5 }),
    position: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
    subject: fc.constant({ type: 'product', id: 'p' }),
    owners: fc.constantFrom('u', 'v', 'w').map((user) => [{ type: 'user', id: user }]),
    values: fc.constantFrom(new Map(), new Map([['revenue', 2.5]]), new Map([['revenue', -1]])),
  });

/** A store in which other writers sometimes come first. */
class ContendedStore extends MemoryStore {
  busy = 0;

  override swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    return this.busy-- > 0 ? Promise.resolve(swaps.map(() => 'changed')) : super.swap(swaps);
  }
}

/** A store that counts the sets of ids that it is asked about. */
class AskedStore extends MemoryStore {
  asked = 0;

  override marked(sets: readonly MarkedIds[]): Promise<boolean[][]> {
    this.asked += sets.length;
    return super.marked(sets);
  }
}

describe('counters', () => {
  it('equal an oracle over raw events, whatever their order, with retries, at any later time', async () => {
    const events = fc.integer({ min: 0, max: 60 }).chain((count) => {
      return fc.tuple(...Array.from({ length: count }, (_, id) => anyEvent(id)));
    });
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.integer({ min: 0, max: 30 * HOUR }),
        fc.integer({ min: 0, max: 3 }),
        async (all, later, busy) => {
          const store = new ContendedStore();
          store.busy = busy;
          // The horizon is longer than the events are old, so that every retry is known.
          const writer = new CounterWriter(48 * HOUR, () => NOW);
          const half = all.length >> 1;
          await countAll(writer, all.slice(0, half), store);
          const again = await countAll(writer, [...all, ...all.slice(half)], store);
          expect(again.slice(0, half)).to.deep.equal(all.slice(0, half).map(() => 'duplicate'));
          for (const key of ['a', 'b'].map((id) => counterKey('t', ['brand'], [id]))) {
            const found = valuesAt(store, key, NOW + later);
            for (const one of FEATURES) {
              // Windows forget at the time of the write, too: what is outside then stays outside.
              const kept = all.filter(
                ({ time }) =>
                  one.halfLife !== undefined || one.value.kind === 'last' || time > NOW - 25 * HOUR,
              );
              const window = one.value.kind === 'last' ? (one.window ?? COUNTER.ttl) : one.window;
              const expected = oracleValue({ ...one, window }, kept, key, NOW + later);
              if (later > 23 * HOUR) continue; // the ttl has passed for some
              if (expected === undefined) expect(found[one.name], one.name).to.equal(undefined);
              else expect(found[one.name], one.name).to.be.closeTo(expected, 1e-9 * (1 + Math.abs(expected)));
            }
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('keep at most 32 ids in a record, and know the others from beside it', async () => {
    const store = new MemoryStore();
    const writer = new CounterWriter(10 * MINUTE, () => NOW);
    const key = counterKey('t', ['brand'], ['a']);
    const events = Array.from({ length: 500 }, (_, id) => ({
      ...{ id, key, event: 'click', time: NOW - (id % 9) * MINUTE, quantity: 1, position: undefined },
      ...{ subject: { type: 'product', id: 'p' }, owners: [], values: new Map<never, never>() },
    }));
    await countAll(writer, events, store);
    const bytes = store.records.get(key)?.length ?? 0;
    expect(decodeCounters(store.records.get(key) ?? Buffer.alloc(0))?.marks.length).to.be.at.most(32 * 12);
    expect(await countAll(writer, events, store)).to.deep.equal(events.map(() => 'duplicate'));
    expect(store.records.get(key)?.length).to.equal(bytes);
    expect(valuesAt(store, key, NOW)['clicks_1d']).to.equal(500);
    const marks = [...store.records.keys()].filter((one) => partsOf(one)?.kind === 'marks');
    expect(marks.length).to.be.greaterThan(400);
    expect(marks[0]?.startsWith(markKey(key, 0).slice(0, -1))).to.equal(true);
  });

  it('know an event at any time within the horizon, and ask two sets for it', async () => {
    const horizon = 10 * MINUTE;
    // Where one set of ids ends and the next one starts.
    const span = horizon + 2 * MINUTE + 1000;
    const edge = span - (NOW % span);
    const key = counterKey('t', ['brand'], ['a']);
    const eventsAt = (time: number): RawEvent[] =>
      Array.from({ length: 40 }, (_, id) => ({
        ...{ id, key, event: 'click', time, quantity: 1, position: undefined },
        ...{ subject: { type: 'product', id: 'p' }, owners: [], values: new Map<never, never>() },
      }));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.nat(30 * MINUTE),
          fc.integer({ min: -2000, max: 2000 }).map((off) => edge + off),
        ),
        fc.integer({ min: -MINUTE, max: MINUTE }),
        fc.integer({ min: 0, max: horizon }),
        fc.option(fc.integer({ min: -horizon, max: 5 * MINUTE }), { nil: undefined }),
        async (start, clockAhead, delay, dated) => {
          const first = NOW + start + clockAhead;
          const second = NOW + start + delay;
          const time = dated === undefined ? undefined : first + dated;
          if (time !== undefined && time < second - horizon) return;
          const store = new AskedStore();
          await countAll(new CounterWriter(horizon, () => first), eventsAt(time ?? first), store);
          store.asked = 0;
          const writer = new CounterWriter(horizon, () => second);
          expect(await countAll(writer, eventsAt(time ?? second), store)).to.deep.equal(
            eventsAt(0).map(() => 'duplicate'),
          );
          const isDatedAhead = time !== undefined && time > second + MINUTE;
          // Two writes have at most 32 of the events each. Each looks when it replaces the record, and then asks which ids are known.
          if (!isDatedAhead) expect(store.asked).to.be.within(1, 8);
        },
      ),
      { numRuns: draws(75) },
    );
  });

  it('estimate many distinct values, and forget those outside the window', async () => {
    const store = new MemoryStore();
    const writer = new CounterWriter(10 * MINUTE, () => NOW);
    const key = counterKey('t', ['brand'], ['a']);
    const orderOf = (id: number, user: string): RawEvent => ({
      ...{ id, key, event: 'order', time: NOW - (id % 300) * MINUTE, quantity: 1, position: undefined },
      ...{ subject: { type: 'product', id: 'p' }, owners: [{ type: 'user', id: user }], values: new Map() },
    });
    const few = Array.from({ length: 200 }, (_, id) => orderOf(id, `u${id % 100}`));
    await countAll(writer, few, store);
    expect(valuesAt(store, key, NOW)['buyers']).to.equal(100);
    const many = Array.from({ length: 5000 }, (_, id) => orderOf(1000 + id, `u${id}`));
    await countAll(writer, many, store);
    // Three standard errors of 6.5 %.
    expect(valuesAt(store, key, NOW)['buyers']).to.be.within(4025, 5975);
    expect(valuesAt(store, key, NOW + 7 * HOUR)['buyers']).to.equal(0);
    expect(store.records.get(key)?.length).to.be.lessThan(8192);
  });

  it('count an event once in each record, also when only some records had it', async () => {
    const store = new MemoryStore();
    const writer = new CounterWriter(10 * MINUTE, () => NOW);
    const key = counterKey('t', ['brand'], ['a']);
    const click: RawEvent = {
      ...{ id: 1, key, event: 'click', time: NOW, quantity: 1, position: 2 },
      ...{ subject: { type: 'product', id: 'p' }, owners: [], values: new Map() },
    };
    store.failing = (_, failed) => failed === ALL;
    const error = await countAll(writer, [click], store).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.an('error');
    store.failing = undefined;
    expect(await countAll(writer, [click], store)).to.deep.equal(['stored']);
    expect(await countAll(writer, [click], store)).to.deep.equal(['duplicate']);
    expect(valuesAt(store, key, NOW)['clicks_1h']).to.equal(1);
    expect(valuesAt(store, key, NOW)['coec']).to.equal(undefined);
  });

  it('count each event once that changes more records than one turn writes', async () => {
    const store = new MemoryStore();
    const writer = new CounterWriter(10 * MINUTE, () => NOW);
    const clicks = Array.from({ length: 1300 }, (_, id): RawEvent => {
      const key = counterKey('t', ['brand'], [`b${id}`]);
      const fixed = { event: 'click', time: NOW, quantity: 1, position: undefined };
      return {
        ...{ id, key, ...fixed },
        subject: { type: 'product', id: 'p' },
        owners: [],
        values: new Map(),
      };
    });
    const touches = clicks.flatMap((click) =>
      Array.from(touchesOf(click), ([key, touch]) => ({ key, ...touch })).filter(({ key }) => key !== ALL),
    );
    expect(new Set(await writer.count(touches, store))).to.deep.equal(new Set(['stored']));
    expect(new Set(await writer.count(touches, store))).to.deep.equal(new Set(['duplicate']));
    for (const { key } of clicks) expect(valuesAt(store, key, NOW)['clicks_1h'], key).to.equal(1);
  });

  it('leave the parts of another version of the project as they are', async () => {
    const store = new MemoryStore();
    const key = counterKey('t', ['brand'], ['a']);
    const other = { low: 1, high: 2, expires: NOW / 1000 + 60, kind: 2, width: 0, body: Buffer.alloc(8, 5) };
    const record = {
      marks: Buffer.alloc(0),
      markedUntil: 0,
      series: [other, { ...other, low: 3, expires: NOW / 1000 - 1 }],
    };
    store.records.set(key, encodeCounters(record, NOW + MINUTE));
    const writer = new CounterWriter(10 * MINUTE, () => NOW);
    const [touch] = touchesOf({
      ...{ id: 1, key, event: 'click', time: NOW, quantity: 1, position: undefined },
      ...{ subject: { type: 'product', id: 'p' }, owners: [], values: new Map() },
    }).values();
    if (touch !== undefined) await writer.count([{ key, ...touch }], store);
    const left = decodeCounters(store.records.get(key) ?? Buffer.alloc(0))?.series ?? [];
    expect(left.find(({ low }) => low === 1)).to.deep.include({ high: 2, kind: 2 });
    expect(left.find(({ low }) => low === 3)).to.equal(undefined);
  });
});
