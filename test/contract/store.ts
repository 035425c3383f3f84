import { expect } from 'chai';
import fc from 'fast-check';
import {
  encodeSegment,
  encodeTombstone,
  mergeSegment,
  viewId,
} from '../../runtime/state/store/codec/feature-record.js';
import { RecordLayout } from '../../runtime/state/store/codec/record-layout.js';
import { RecordBatch } from '../../runtime/state/store/codec/record-batch.js';
import { counterKey, markKey } from '../../runtime/state/store/keys.js';
import {
  CursorError,
  type MarkedIds,
  type RecordSwap,
  type SegmentOutcome,
  type Store,
} from '../../runtime/state/store/store.js';
import { describeWith, type Need } from '../support/needs.js';
import { newVersioned, VERSIONED_HEAD } from '../../runtime/state/store/codec/versioned-record.js';

/** How the contract gets at an engine. */
export interface StoreHarness {
  /** The program that the engine needs. Without it the suite is left out. */
  readonly needs?: Need;
  /** Called once, before the first `open`. */
  start(context: Mocha.Context): Promise<void>;
  open(): Promise<Store>;
  stop(): Promise<void>;
}

const layout = new RecordLayout([['value', { kind: 'int' }]], undefined);

function segment(view: string, eventTime: number, value: number): Buffer {
  return encodeSegment(viewId(view), layout, eventTime, { value });
}

/** What a deleted row leaves. @param lasts milliseconds from now until it may be forgotten */
function tombstone(view: string, eventTime: number, lasts = 60_000): Buffer {
  return encodeTombstone(viewId(view), eventTime, Date.now() + lasts);
}

/** A versioned record with some content. @param lasts milliseconds from now until it may be forgotten */
function versioned(content: string, lasts = 60_000): Buffer {
  const text = Buffer.from(content);
  const record = newVersioned(VERSIONED_HEAD + text.length, Date.now() + lasts);
  text.copy(record, VERSIONED_HEAD);
  return record;
}

const contentOf = (record: Buffer | null | undefined): string | undefined =>
  record?.toString('utf8', VERSIONED_HEAD);

/** What every engine must do; run for each of them. */
export function storeContract(engine: string, harness: StoreHarness): void {
  describeWith(harness.needs ?? [], `the store contract: ${engine}`, function () {
    let store: Store;
    let nextKey = 0;
    const freshKey = (): string => `t:entity:product:${String(nextKey++)}`;
    const freshFeatureKey = (): string => `t:features:product:${String(nextKey++)}`;
    const freshCounterKey = (): string => counterKey('t', ['product'], [String(nextKey++)]);
    const freshHistoryKey = (): string => `t:interactions:user:${String(nextKey++)}`;

    before(async function () {
      await harness.start(this);
      store = await harness.open();
    });
    after(async () => {
      await (store as Store | undefined)?.close();
      await harness.stop();
    });

    it('answers in the order of the keys, with null for what it does not have', async () => {
      const [a, b, none] = [freshKey(), freshKey(), freshKey()];
      await store.write([
        { key: a, value: Buffer.from('one') },
        { key: b, value: Buffer.from('two') },
      ]);
      const found = await store.read([b, none, a, b]);
      expect(found.map((value) => value?.toString() ?? null)).to.deep.equal(['two', null, 'one', 'two']);
    });

    it('lists the keys with a start, page by page, and no other', async () => {
      const start = `t:entity:scan${String(nextKey++)}*[x]:`;
      const keys = Array.from({ length: 250 }, (_, i) => `${start}é${String(i)}:`);
      await store.write(keys.map((key) => ({ key, value: Buffer.from('v') })));
      await store.write([{ key: `${start.replace('*[x]', 'x')}other`, value: Buffer.from('v') }]);
      for (const count of [1, 7, 1000]) {
        const found = new Set<string>();
        let cursor: string | undefined;
        do {
          const page = await store.scan(start, cursor, count);
          for (const key of page.keys) found.add(key);
          cursor = page.cursor;
        } while (cursor !== undefined);
        expect([...found].sort()).to.deep.equal([...keys].sort());
      }
      await store.remove(keys);
      expect((await store.scan(start, undefined, 1000)).keys).to.deep.equal([]);
    });

    it('returns every key that stays, while others come and go', async () => {
      const start = `t:entity:churn${String(nextKey++)}:`;
      const staying = Array.from({ length: 400 }, (_, i) => `${start}stays${String(i)}`);
      await store.write(staying.map((key) => ({ key, value: Buffer.from('v') })));
      const found = new Set<string>();
      let cursor: string | undefined;
      let round = 0;
      do {
        const page = await store.scan(start, cursor, 20);
        for (const key of page.keys) found.add(key);
        cursor = page.cursor;
        const coming = Array.from({ length: 50 }, (_, i) => `${start}a${String(round)}-${String(i)}`);
        await store.write(coming.map((key) => ({ key, value: Buffer.from('v') })));
        if (round++ % 2 === 1) await store.remove(coming);
      } while (cursor !== undefined && round < 500);
      expect(staying.filter((key) => !found.has(key))).to.deep.equal([]);
    });

    it('refuses a cursor of another scan', async () => {
      const refused: unknown = await store.scan('t:entity:x:', 'not a cursor', 10).catch((e: unknown) => e);
      expect(refused).to.be.an.instanceOf(CursorError);
    });

    it('reads into a batch, from a number on, and touches nothing else of it', async () => {
      const [a, b, none] = [freshKey(), freshKey(), freshKey()];
      await store.write([
        { key: a, value: Buffer.from('one') },
        { key: b, value: Buffer.alloc(0) },
      ]);
      const batch = new RecordBatch();
      batch.extend(9);
      for (let i = 0; i < 9; i++) batch.put(i, Buffer.from('before'), 1, 3);
      await Promise.all([store.readInto([b, none, a], batch, 1), store.readInto([a, a], batch, 6)]);
      await store.readInto([], batch, 0);
      const found = Array.from({ length: 9 }, (_, i) => batch.record(i)?.toString() ?? null);
      expect(found).to.deep.equal(['ef', '', null, 'one', 'ef', 'ef', 'one', 'one', 'ef']);
    });

    it('answers nothing to no keys, and takes no records', async () => {
      expect(await store.read([])).to.deep.equal([]);
      await store.write([]);
      await store.remove([]);
      expect(await store.mergeSegments([])).to.deep.equal([]);
      expect(await store.swap([])).to.deep.equal([]);
    });

    it('keeps every byte of a value, and of a key', async () => {
      const value = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256));
      const keys = ['\0', 'Größe', '漢字 😀', '__proto__', 'a:b', '{x}', '\r\n'].map(
        (id) => `t:entity:odd:${id}`,
      );
      await store.write(keys.map((key, i) => ({ key, value: Buffer.concat([value, Buffer.from([i])]) })));
      const found = await store.read(keys);
      found.forEach((record, i) => expect(record).to.deep.equal(Buffer.concat([value, Buffer.from([i])])));
    });

    it('keeps an empty value apart from none', async () => {
      const key = freshKey();
      await store.write([{ key, value: Buffer.alloc(0) }]);
      expect(await store.read([key])).to.deep.equal([Buffer.alloc(0)]);
    });

    it('writes and reads 1,000 keys at once, and values of a megabyte', async () => {
      const records = Array.from({ length: 1000 }, (_, i) => ({
        key: freshKey(),
        value: Buffer.from(`value ${String(i)}`),
      }));
      const large = { key: freshKey(), value: Buffer.alloc(1_200_000, 7) };
      await store.write([large, ...records]);
      const found = await store.read([...records.map(({ key }) => key), large.key]);
      expect(found).to.deep.equal([...records.map(({ value }) => value), large.value]);
    });

    it('replaces a record whole', async () => {
      const key = freshKey();
      await store.write([{ key, value: Buffer.from('a long first value') }]);
      await store.write([{ key, value: Buffer.from('short') }]);
      expect((await store.read([key]))[0]?.toString()).to.equal('short');
    });

    it('keeps the last of two writes of one key in one batch', async () => {
      const key = freshKey();
      await store.write([
        { key, value: Buffer.from('first') },
        { key, value: Buffer.from('second') },
      ]);
      expect((await store.read([key]))[0]?.toString()).to.equal('second');
    });

    it('removes records, and does not mind those that are not there', async () => {
      const [a, b] = [freshKey(), freshKey()];
      await store.write([
        { key: a, value: Buffer.from('a') },
        { key: b, value: Buffer.from('b') },
      ]);
      await store.remove([a, freshKey()]);
      expect((await store.read([a, b])).map((value) => value?.toString() ?? null)).to.deep.equal([null, 'b']);
    });

    it('shows an acknowledged write to the very next read, also when many are under way', async () => {
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const key = freshKey();
          for (const text of ['1', '2', '3']) {
            await store.write([{ key, value: Buffer.from(text) }]);
            expect((await store.read([key]))[0]?.toString()).to.equal(text);
          }
          await store.remove([key]);
          expect(await store.read([key])).to.deep.equal([null]);
        }),
      );
    });

    it('keeps the order of writes that were not waited for', async () => {
      const key = freshKey();
      const writes = ['1', '2', '3'].map((text) => store.write([{ key, value: Buffer.from(text) }]));
      await Promise.all([...writes, store.remove([key]), store.write([{ key, value: Buffer.from('4') }])]);
      expect((await store.read([key]))[0]?.toString()).to.equal('4');
    });

    it('keeps the segments of other views when it replaces one', async () => {
      const key = freshKey();
      const views = ['first', 'second', 'third'];
      await store.mergeSegments(views.map((view) => ({ key, segment: segment(view, 1, 1) })));
      await store.mergeSegments([{ key, segment: segment('second', 2, 2) }]);
      expect((await store.read([key]))[0]).to.deep.equal(
        Buffer.concat([segment('third', 1, 1), segment('second', 2, 2), segment('first', 1, 1)]),
      );
    });

    it('never replaces a row with an older one; of equal times the later push wins', async () => {
      const key = freshKey();
      const outcomes: SegmentOutcome[] = [];
      for (const [time, value] of [
        [10, 1],
        [9, 2],
        [10, 3],
        [11, 4],
        [-5, 5],
      ] as const) {
        outcomes.push(...(await store.mergeSegments([{ key, segment: segment('v', time, value) }])));
      }
      expect(outcomes).to.deep.equal(['stored', 'older', 'stored', 'stored', 'older']);
      expect((await store.read([key]))[0]).to.deep.equal(segment('v', 11, 4));
    });

    it('deletes a row, and keeps older rows from coming back; at one time the deletion wins', async () => {
      const key = freshFeatureKey();
      const merge = async (...segments: Buffer[]): Promise<SegmentOutcome[]> =>
        store.mergeSegments(segments.map((bytes) => ({ key, segment: bytes })));
      const other = segment('other', 1, 1);
      const deletion = tombstone('v', 10);
      expect(await merge(other, segment('v', 10, 1), deletion)).to.deep.equal(['stored', 'stored', 'stored']);
      expect((await store.read([key]))[0]).to.deep.equal(Buffer.concat([deletion, other]));
      expect(await merge(segment('v', 9, 2), segment('v', 10, 2), deletion, tombstone('v', 9))).to.deep.equal(
        ['older', 'older', 'stored', 'older'],
      );
      expect((await store.read([key]))[0]).to.deep.equal(Buffer.concat([deletion, other]));
      expect(await merge(segment('v', 11, 3), tombstone('v', 10))).to.deep.equal(['stored', 'older']);
      expect((await store.read([key]))[0]).to.deep.equal(Buffer.concat([segment('v', 11, 3), other]));
    });

    it('remembers the deletion of a row that was never there', async () => {
      const key = freshFeatureKey();
      const writes = [tombstone('v', 10), segment('v', 9, 1)].map((bytes) => ({ key, segment: bytes }));
      expect(await store.mergeSegments(writes)).to.deep.equal(['stored', 'older']);
    });

    it('forgets a deletion once its time is over: beside rows, and a record of nothing else', async () => {
      const [beside, alone, young] = [freshFeatureKey(), freshFeatureKey(), freshFeatureKey()];
      const other = segment('other', 1, 1);
      await store.mergeSegments([
        { key: beside, segment: other },
        { key: beside, segment: tombstone('v', 10, 30) },
        { key: alone, segment: tombstone('v', 10, 30) },
        { key: young, segment: tombstone('v', 10, 30) },
        { key: young, segment: tombstone('w', 10) },
      ]);
      await new Promise((resolve) => setTimeout(resolve, 60));
      const row = segment('v', 9, 1);
      expect(await store.mergeSegments([{ key: beside, segment: row }])).to.deep.equal(['stored']);
      expect((await store.read([beside]))[0]).to.deep.equal(Buffer.concat([row, other]));
      // An engine may need other writes to find it.
      for (let i = 0; i < 100 && (await store.read([alone]))[0] !== null; i++)
        await store.mergeSegments([{ key: freshFeatureKey(), segment: row }]);
      const [gone, kept] = await store.read([alone, young]);
      expect(gone).to.equal(null);
      expect(kept).not.to.equal(null);
      expect(await store.mergeSegments([{ key: young, segment: segment('w', 9, 1) }])).to.deep.equal([
        'older',
      ]);
    });

    it('keeps a row that follows a deletion for ever', async () => {
      const key = freshFeatureKey();
      const row = segment('v', 11, 1);
      await store.mergeSegments([tombstone('v', 10, 30), row].map((bytes) => ({ key, segment: bytes })));
      await new Promise((resolve) => setTimeout(resolve, 60));
      await store.mergeSegments([{ key: freshFeatureKey(), segment: row }]);
      expect(await store.read([key])).to.deep.equal([row]);
    });

    it('merges like mergeSegment, whatever the order of the pushes and deletions', async () => {
      const change = fc.record({
        view: fc.constantFrom('a', 'b', 'c'),
        time: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ min: -1e15, max: 1e15, noNaN: true })),
        value: fc.integer(),
        // Of a deletion: remembered for a minute, or forgotten at once.
        lasts: fc.constantFrom(undefined, undefined, 60_000, -1),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
          // A row first, so that the record does not expire while it is looked at.
          const first = segment('row', 0, 0);
          const key = freshFeatureKey();
          const segments = changes.map(({ view, time, value, lasts }) =>
            lasts === undefined ? segment(view, time, value) : tombstone(view, time, lasts),
          );
          const outcomes = await store.mergeSegments(
            [first, ...segments].map((bytes) => ({ key, segment: bytes })),
          );
          let expected: Buffer | null = first;
          const expectedOutcomes = segments.map((bytes) => {
            const merged = mergeSegment(expected, bytes, Date.now());
            expected = merged.record;
            return merged.outcome;
          });
          expect(outcomes.slice(1)).to.deep.equal(expectedOutcomes);
          expect((await store.read([key]))[0]).to.deep.equal(expected);
        }),
        { numRuns: 100 },
      );
    });

    it('replaces a row only if it is the one that was read', async () => {
      const key = freshFeatureKey();
      const other = segment('other', 1, 1);
      const [first, second, third] = [segment('v', 10, 1), segment('v', 10, 2), segment('v', 10, 3)];
      const merge = async (bytes: Buffer, replaces: Buffer | null): Promise<SegmentOutcome | undefined> =>
        (await store.mergeSegments([{ key, segment: bytes, replaces }]))[0];
      expect(await merge(first, second)).to.equal('changed');
      expect(await store.read([key])).to.deep.equal([null]);
      expect(await merge(first, null)).to.equal('stored');
      expect(await merge(second, null)).to.equal('changed');
      await store.mergeSegments([{ key, segment: other }]);
      expect(await merge(third, second)).to.equal('changed');
      expect(await merge(second, first)).to.equal('stored');
      expect((await store.read([key]))[0]).to.deep.equal(Buffer.concat([other, second]));
      await store.mergeSegments([{ key, segment: tombstone('v', 11) }]);
      expect(await merge(third, second)).to.equal('changed');
      expect(await merge(third, null)).to.equal('older');
    });

    it('lets the newest of concurrent pushes win', async () => {
      const key = freshKey();
      const times = Array.from({ length: 200 }, (_, i) => (i * 73) % 200);
      await Promise.all(
        times.map((time) => store.mergeSegments([{ key, segment: segment('v', time, time) }])),
      );
      expect((await store.read([key]))[0]).to.deep.equal(segment('v', 199, 199));
    });

    it('merges 1,000 segments at once', async () => {
      const writes = Array.from({ length: 1000 }, (_, i) => ({
        key: freshKey(),
        segment: segment('v', i, i),
      }));
      const outcomes = await store.mergeSegments(writes);
      expect(outcomes).to.deep.equal(writes.map(() => 'stored'));
      expect(await store.read(writes.map(({ key }) => key))).to.deep.equal(
        writes.map((write) => write.segment),
      );
    });

    it('swaps a record for who has read it, and for nobody else', async () => {
      const key = freshHistoryKey();
      const [first, second, third] = [versioned('first'), versioned('second'), versioned('third')];
      expect(await store.swap([{ key, before: null, after: first }])).to.deep.equal(['stored']);
      expect(await store.swap([{ key, before: null, after: second }])).to.deep.equal(['changed']);
      expect(await store.read([key])).to.deep.equal([first]);
      expect(await store.swap([{ key, before: first, after: second }])).to.deep.equal(['stored']);
      expect(await store.swap([{ key, before: first, after: third }])).to.deep.equal(['changed']);
      expect(await store.read([key])).to.deep.equal([second]);
      await store.remove([key]);
      expect(await store.swap([{ key, before: second, after: third }])).to.deep.equal(['changed']);
      expect(await store.read([key])).to.deep.equal([null]);
    });

    it('swaps an entity by all of its bytes, and removes none when a time is over', async () => {
      const key = freshKey();
      const [first, second, third] = ['12345678 first', '12345678 second', 'x'].map((text) =>
        Buffer.from(text),
      );
      const swap = async (before: Buffer | null | undefined, after: Buffer | undefined): Promise<unknown> =>
        (await store.swap([{ key, before: before as Buffer | null, after: after as Buffer }]))[0];
      expect(await swap(null, first)).to.equal('stored');
      expect(await swap(null, second)).to.equal('changed');
      expect(await swap(third, second)).to.equal('changed');
      expect(await store.read([key])).to.deep.equal([first]);
      expect(await swap(first, second)).to.equal('stored');
      expect(await swap(second, second)).to.equal('stored');
      expect(await swap(second, third)).to.equal('stored');
      expect(await store.read([key])).to.deep.equal([third]);
      await store.remove([key]);
      expect(await swap(third, first)).to.equal('changed');
      expect(await store.read([key])).to.deep.equal([null]);
    });

    it('does not mind a swap that is sent twice', async () => {
      for (const [key, first, second] of [
        [freshKey(), Buffer.from('12345678 first'), Buffer.from('12345678 second')],
        [freshHistoryKey(), versioned('first'), versioned('second')],
      ] as const) {
        const [create, change] = [
          { key, before: null, after: first },
          { key, before: first, after: second },
        ];
        for (const swap of [create, create, change, change])
          expect(await store.swap([swap])).to.deep.equal(['stored']);
        expect(await store.swap([create])).to.deep.equal(['changed']);
        expect(await store.read([key])).to.deep.equal([second]);
      }
    });

    it('loses none of the additions of many who swap one entity, beside whole writes of others', async () => {
      const [key, other] = [freshKey(), freshKey()];
      const add = async (text: string): Promise<void> => {
        for (;;) {
          const [before = null] = await store.read([key]);
          const after = Buffer.from([before?.toString(), text].filter(Boolean).join(' '));
          const [outcome] = await store.swap([{ key, before, after }]);
          await store.write([{ key: other, value: after }]);
          if (outcome === 'stored') return;
        }
      };
      const texts = Array.from({ length: 40 }, (_, i) => String(i));
      await Promise.all(texts.map(add));
      expect((await store.read([key]))[0]?.toString().split(' ')).to.have.members(texts);
    });

    it('tells apart two records of the same content', async () => {
      const key = freshHistoryKey();
      await store.swap([{ key, before: null, after: versioned('same') }]);
      const swap = { key, before: versioned('same'), after: versioned('new') };
      expect(await store.swap([swap])).to.deep.equal(['changed']);
    });

    it('swaps many records at once, each for itself', async () => {
      const swaps = Array.from({ length: 300 }, (_, i) => ({
        key: freshHistoryKey(),
        before: i % 3 === 0 ? versioned('never was') : null,
        after: versioned(String(i)),
      }));
      expect(await store.swap(swaps)).to.deep.equal(
        swaps.map(({ before }) => (before === null ? 'stored' : 'changed')),
      );
      const found = await store.read(swaps.map(({ key }) => key));
      expect(found.map(contentOf)).to.deep.equal(
        swaps.map(({ before }, i) => (before === null ? String(i) : undefined)),
      );
    });

    it('loses none of the additions of many who swap one record', async () => {
      const key = freshHistoryKey();
      const add = async (text: string): Promise<void> => {
        for (;;) {
          const [before = null] = await store.read([key]);
          const after = versioned([contentOf(before), text].filter(Boolean).join(' '));
          const [outcome] = await store.swap([{ key, before, after }]);
          if (outcome === 'stored') return;
        }
      };
      const texts = Array.from({ length: 40 }, (_, i) => String(i));
      await Promise.all(texts.map(add));
      const [record] = await store.read([key]);
      expect(contentOf(record)?.split(' ')).to.have.members(texts);
    });

    it('forgets a record once its time is over, and no other', async () => {
      const [old, young] = [freshHistoryKey(), freshHistoryKey()];
      await store.swap([{ key: old, before: null, after: versioned('old', -1000) }]);
      await store.swap([{ key: young, before: null, after: versioned('young') }]);
      // An engine may need other writes to find it.
      for (let i = 0; i < 100 && (await store.read([old]))[0] !== null; i++)
        await store.swap([{ key: freshHistoryKey(), before: null, after: versioned('other') }]);
      expect((await store.read([old, young])).map(contentOf)).to.deep.equal([undefined, 'young']);
      expect(await store.swap([{ key: old, before: null, after: versioned('new') }])).to.deep.equal([
        'stored',
      ]);
    });

    it('remembers ids until they expire, each key for itself', async () => {
      const [key, other] = [markKey(freshCounterKey(), 1), markKey(freshCounterKey(), 2)];
      const expires = Date.now() + 60_000;
      const idsOf = (from: number, to: number): Buffer => {
        const ids = Buffer.alloc(8 * (to - from));
        for (let id = from; id < to; id++) ids.writeUInt32BE(id, 8 * (id - from) + 4);
        return ids;
      };
      const all = [
        { key, ids: idsOf(0, 150) },
        { key: other, ids: idsOf(150, 300) },
      ];
      const answer = (isMarked: (id: number) => boolean): boolean[][] =>
        [0, 150].map((from) => Array.from({ length: 150 }, (_, i) => isMarked(from + i)));
      expect(await store.marked(all)).to.deep.equal(answer(() => false));
      await store.mark([
        { key, ids: idsOf(0, 100), expires },
        { key: other, ids: idsOf(150, 200), expires },
      ]);
      await store.mark([{ key: other, ids: idsOf(190, 250), expires }]);
      expect(await store.marked(all)).to.deep.equal(answer((id) => id < 100 || (id >= 150 && id < 250)));
      const elsewhere = [
        { key, ids: idsOf(150, 300) },
        { key: other, ids: idsOf(0, 150) },
      ];
      expect(await store.marked(elsewhere)).to.deep.equal(answer(() => false));
      const old = { key: markKey(freshCounterKey(), 3), ids: idsOf(255, 256), expires: Date.now() - 1000 };
      await store.mark([old]);
      expect(await store.marked([old])).to.deep.equal([[false]]);
      expect(await store.marked([])).to.deep.equal([]);
    });

    it('replaces no record with a remembered id beside it, also not with one of many', async () => {
      const [key, free] = [freshCounterKey(), freshCounterKey()];
      const id = Buffer.from('12345678');
      const many = Buffer.concat([Buffer.alloc(8 * 40), id]);
      await store.mark([{ key: markKey(key, 2), ids: id, expires: Date.now() + 60_000 }]);
      const swap = (of: string, ...unless: MarkedIds[]): RecordSwap => {
        return { key: of, before: null, after: versioned('new'), unless };
      };
      const sets = (of: string): MarkedIds[] => [
        { key: markKey(of, 1), ids: many },
        { key: markKey(of, 2), ids: many },
      ];
      const outcomes = await store.swap([swap(key, ...sets(key)), swap(free, ...sets(free)), swap(free)]);
      expect(outcomes).to.deep.equal(['marked', 'stored', 'changed']);
      expect((await store.read([key, free])).map(contentOf)).to.deep.equal([undefined, 'new']);
      const other = { key: markKey(key, 2), ids: Buffer.from('other id') };
      expect(await store.swap([swap(key, other)])).to.deep.equal(['stored']);
    });

    it('answers a ping', async () => {
      await store.ping();
    });

    it('refuses whatever comes after it was closed', async () => {
      const closed = await harness.open();
      await closed.close();
      for (const attempt of [
        () => closed.read(['k']),
        () => closed.readInto(['k'], new RecordBatch(), 0),
        () => closed.write([{ key: 'k', value: Buffer.from('v') }]),
        () => closed.remove(['k']),
        () => closed.swap([{ key: 't:interactions:user:k', before: null, after: versioned('v') }]),
        () => closed.mergeSegments([{ key: 'k', segment: segment('v', 1, 1) }]),
        () => closed.ping(),
      ]) {
        expect(await attempt()?.catch((error: unknown) => error)).to.be.instanceOf(Error);
      }
    });
  });
}
