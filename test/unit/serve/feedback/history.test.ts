import { expect } from 'chai';
import fc from 'fast-check';
import { Status } from '../../../../runtime/ground/api/status.js';
import {
  MOST_BYTES,
  MOST_EVENTS,
  MOST_VALUES,
  NO_HISTORY,
  type History,
} from '../../../../runtime/state/store/codec/history.js';
import {
  HistoryEvents,
  decodeHistory,
  encodeHistory,
} from '../../../../runtime/state/store/codec/history-record.js';
import { mergeEvents } from '../../../../runtime/serve/feedback/merge-events.js';
import type { NewEvent } from '../../../../runtime/serve/feedback/history-capacity.js';
import { expiryOf, versionOf } from '../../../../runtime/state/store/codec/versioned-record.js';

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const WINDOWS = {
  windows: new Map([24, 100, 100, 500].map((hours, code) => [code, hours * HOUR])),
  longest: 500 * HOUR,
};

function event(id: number, over: Partial<NewEvent> = {}): NewEvent {
  return { type: 1, time: NOW, quantity: 1, identity: [id % 3, id], values: new Map(), ...over };
}

/** Events as values, without the columns. */
function listed(history: History): unknown[] {
  return Array.from({ length: history.count }, (_, e) => ({
    type: history.types[e],
    time: history.times[e],
    quantity: history.quantities[e],
    identity: [history.identities[2 * e], history.identities[2 * e + 1]],
    values: Object.fromEntries(
      [...history.facets].flatMap(([name, { offsets, values }]) => {
        const its = [...values.slice(offsets[e], offsets[e + 1])].map((number) => history.texts[number]);
        return its.length === 0 ? [] : [[name, its]];
      }),
    ),
  }));
}

const merge = (history: History, events: readonly NewEvent[], now = NOW): History =>
  mergeEvents(history, events, WINDOWS, now).history;

const anyEvent: fc.Arbitrary<NewEvent> = fc.record({
  type: fc.integer({ min: 0, max: 3 }),
  time: fc.integer({ min: NOW - 600 * HOUR, max: NOW }),
  quantity: fc.integer({ min: 1, max: 65_535 }),
  identity: fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 0xffff_ffff })),
  values: fc
    .dictionary(
      fc.constantFrom('product', 'product.brand', 'product.größe'),
      fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 6 }), { maxLength: 4 }),
      { noNullPrototype: true },
    )
    .map((values) => new Map(Object.entries(values))),
});
const someEvents = fc.uniqueArray(anyEvent, {
  maxLength: 40,
  selector: ({ identity: [low, high] }) => `${low} ${high}`,
});

describe('the record of a history', () => {
  it('decodes to the history that was encoded', () => {
    fc.assert(
      fc.property(someEvents, (events) => {
        const history = merge(NO_HISTORY, events);
        const decoded = decodeHistory(encodeHistory(history, NOW));
        expect(decoded && listed(decoded)).to.deep.equal(listed(history));
      }),
    );
  });

  it('has a new version after each write, and an expiry', () => {
    const [one, two] = [encodeHistory(NO_HISTORY, 5.5), encodeHistory(NO_HISTORY, 5.5)];
    expect(versionOf(one).equals(versionOf(two))).to.equal(false);
    expect(expiryOf(one)).to.equal(5.5);
  });

  it('is decoded for components with the values of one facet', () => {
    const values = new Map([
      ['product', ['p1']],
      ['product.tags', ['a', 'b']],
    ]);
    const events = [
      event(1, { values }),
      event(2, { time: NOW + 1, values: new Map([['product', ['p2']]]) }),
    ];
    const record = encodeHistory(merge(NO_HISTORY, events), NOW);
    const read = new HistoryEvents(Buffer.concat([Buffer.alloc(3), record]).subarray(3)).of('product.tags');
    expect(read.status).to.equal(Status.present);
    expect([read.count, [...read.offsets], [...read.values], read.texts]).to.deep.equal([
      2,
      [0, 2, 2],
      [0, 1],
      ['a', 'b'],
    ]);
    expect(new HistoryEvents(record).of('product.brand')).to.deep.include({ count: 2, texts: [] });
  });

  it('is rejected if any part of it is damaged', () => {
    const values = new Map([['product', ['p1', 'p2']]]);
    const record = encodeHistory(merge(NO_HISTORY, [event(1, { values }), event(2)]), NOW);
    for (let end = 0; end < record.length; end++) {
      expect(decodeHistory(record.subarray(0, end)), `cut at ${end}`).to.equal(undefined);
      expect(new HistoryEvents(record.subarray(0, end)).of('product').status).to.equal(Status.failed);
    }
    fc.assert(
      fc.property(fc.nat(record.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Buffer.from(record);
        damaged[at] = (damaged[at] ?? 0) ^ change;
        decodeHistory(damaged);
        const { status, values: numbers, texts } = new HistoryEvents(damaged).of('product');
        if (status === Status.present)
          expect([...numbers].every((number) => number < texts.length)).to.equal(true);
      }),
    );
  });
});

describe('merging events into a history', () => {
  it('gives the same history for any order, batching and repetition', () => {
    fc.assert(
      fc.property(someEvents, fc.infiniteStream(fc.nat()), (events, numbers) => {
        const whole = merge(NO_HISTORY, events);
        const shuffled = [...events, ...events.slice(0, events.length / 2)]
          .map((one) => [numbers.next().value, one] as const)
          .sort(([a], [b]) => (a ?? 0) - (b ?? 0))
          .map(([, one]) => one);
        let history = NO_HISTORY;
        while (shuffled.length > 0)
          history = merge(history, shuffled.splice(0, 1 + (numbers.next().value % 7)));
        expect(listed(history)).to.deep.equal(listed(whole));
      }),
    );
  });

  it('returns the outcome of each event', () => {
    const before = merge(NO_HISTORY, [event(1)]);
    const events = [event(1, { time: NOW - 5 }), event(2), event(2), event(3, { time: NOW - 100 * HOUR })];
    expect(mergeEvents(before, events, WINDOWS, NOW).outcomes).to.deep.equal([
      'duplicate',
      'stored',
      'duplicate',
      'too_old',
    ]);
  });

  it('drops events that are older than the window of their kind', () => {
    const seen = event(1, { type: 0, time: NOW });
    const ordered = event(2, { type: 3, time: NOW });
    const history = merge(NO_HISTORY, [seen, ordered]);
    const later = merge(history, [event(3, { type: 3, time: NOW + 24 * HOUR })], NOW + 24 * HOUR);
    expect([...later.types]).to.deep.equal([3, 3]);
  });

  it('keeps the newest events of each kind, and counts evicted ones', () => {
    const clicks = Array.from({ length: MOST_EVENTS }, (_, i) => event(i, { time: NOW - i }));
    const full = merge(NO_HISTORY, clicks);
    const more = [
      event(-1 >>> 0, { time: NOW + 1 }),
      event(-2 >>> 0, { time: NOW - 5_000 }),
      event(-3 >>> 0, { type: 3, time: NOW - 5_000 }),
    ];
    const { history, outcomes, evicted } = mergeEvents(full, more, WINDOWS, NOW);
    expect(outcomes).to.deep.equal(['stored', 'too_old', 'stored']);
    expect([...evicted]).to.deep.equal([[1, 1]]);
    expect(history.count).to.equal(MOST_EVENTS + 1);
    expect(Math.min(...[...history.times].slice(1))).to.equal(NOW - MOST_EVENTS + 2);
  });

  describe('with long values', () => {
    /** `count` texts of a thousand characters, different for each event. */
    const long = (id: number, count: number, over: Partial<NewEvent> = {}): NewEvent => {
      const texts = Array.from({ length: count }, (_, i) => `${id} ${i} `.padEnd(1000, 'é'));
      return event(id, { time: NOW - 100_000 + id, values: new Map([['product.tags', texts]]), ...over });
    };

    it('keeps the newest events of each kind up to the byte limit, and counts evicted ones', () => {
      const many = Array.from({ length: 300 }, (_, i) => long(i, MOST_VALUES, { type: i % 4 }));
      const full = merge(NO_HISTORY, many);
      expect(encodeHistory(full, NOW).length).to.be.within(4 * MOST_BYTES, 4 * (MOST_BYTES + 34_000));
      const kept = [...full.times];
      expect(kept.at(-1)).to.equal(NOW - 100_000 + 299);
      expect(kept).to.deep.equal(kept.map((_, i) => NOW - 100_000 + 300 - kept.length + i));
      const more = [long(301, MOST_VALUES, { type: 2 }), long(1, MOST_VALUES, { type: 3 })];
      const { history, outcomes, evicted } = mergeEvents(full, more, WINDOWS, NOW);
      expect([outcomes, [...evicted]]).to.deep.equal([['stored', 'too_old'], [[2, 1]]]);
      expect(history.count).to.equal(full.count);
    });

    it('counts a shared text once', () => {
      const same = long(0, MOST_VALUES).values;
      const events = Array.from({ length: MOST_EVENTS }, (_, i) => event(i, { values: same }));
      expect(merge(NO_HISTORY, events).count).to.equal(MOST_EVENTS);
    });

    it('keeps the newest event of a kind even if it exceeds the limit, and no older one', () => {
      const facets = Array.from({ length: 10 }, (_, i) => [`f${i}`, long(i, MOST_VALUES).values] as const);
      const values = new Map(facets.map(([name, its]) => [name, its.get('product.tags') ?? []]));
      const history = merge(NO_HISTORY, [event(1, { time: NOW - 1 }), event(2, { values })]);
      expect([...history.times]).to.deep.equal([NOW]);
    });

    it('gives the same history for any order and batching', () => {
      const sized = fc.tuple(fc.nat({ max: MOST_VALUES }), fc.nat({ max: 1 }));
      fc.assert(
        fc.property(
          fc.array(sized, { minLength: 20, maxLength: 60 }),
          fc.infiniteStream(fc.nat()),
          (sizes, numbers) => {
            const events = sizes.map(([count, type], i) => long(i, count, { type }));
            const whole = merge(NO_HISTORY, events);
            const shuffled = events
              .map((one) => [numbers.next().value, one] as const)
              .sort(([a], [b]) => (a ?? 0) - (b ?? 0))
              .map(([, one]) => one);
            let history = NO_HISTORY;
            while (shuffled.length > 0)
              history = merge(history, shuffled.splice(0, 1 + (numbers.next().value % 7)));
            expect(listed(history)).to.deep.equal(listed(whole));
          },
        ),
        { numRuns: 20 },
      );
    });
  });

  it('keeps at most MOST_VALUES distinct values of an event', () => {
    const tags = Array.from({ length: 2 * MOST_VALUES }, (_, i) => `t${i % (MOST_VALUES + 4)}`);
    const history = merge(NO_HISTORY, [event(1, { values: new Map([['product.tags', ['t0', ...tags]]]) })]);
    expect(history.texts).to.deep.equal(tags.slice(0, MOST_VALUES));
  });
});
