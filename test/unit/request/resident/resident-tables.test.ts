import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import 'reflect-metadata';
import type { Plan } from '../../../../runtime/request/compile/plan.js';
import type { Changes } from '../../../../runtime/state/store/coherence.js';
import {
  ResidentTables,
  type ResidentOptions,
} from '../../../../runtime/request/resident/resident-tables.js';
import { encodeEntity } from '../../../../runtime/state/store/codec/entity-record.js';
import { entityKey } from '../../../../runtime/state/store/keys.js';
import { knownLayouts } from '../../../../runtime/state/store/codec/known-layouts.js';
import { RecordLayout } from '../../../../runtime/state/store/codec/record-layout.js';
import { watchWrites } from '../../../../runtime/state/store/around.js';
import { fillFrame, planOf } from '../../../support/fill-frame.js';
import { MemoryStore } from '../../../support/memory-store.js';
import { writeProject } from '../../../support/project.js';

const FILES = {
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float, maker: ref(maker) }\n',
  'schemas/entities/maker.yaml': 'entity: maker\nattributes: { rating: float }\n',
  'pipelines/prices.yaml': `pipeline: prices
rank: item
request: { candidates: {} }
components:
  - use: score
    with: { value: item.price + item.maker.rating }
`,
};

const layout = knownLayouts.add(
  new RecordLayout(
    [
      ['price', { kind: 'float' }],
      ['maker', { kind: 'ref', entity: 'maker' }],
    ],
    'item_id',
  ),
);

/** A store whose replies can be held back after the read. */
class SlowStore extends MemoryStore {
  held: (() => void)[] | undefined;

  override async read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    const records = await super.read(keys);
    if (this.held !== undefined) await new Promise<void>((go) => this.held?.push(go));
    return records;
  }

  /** Releases held replies, and stops holding them. */
  letGo(): void {
    const { held } = this;
    this.held = undefined;
    for (const go of held ?? []) go();
  }

  put(id: string, price: number): void {
    this.records.set(entityKey('millrace', 'item', id), encodeEntity(layout, { price }, id));
  }
}

describe('resident tables', () => {
  let root: string;
  let plan: Plan;
  let store: SlowStore;
  let isCurrent: boolean;
  let isTold: boolean | undefined;
  let beforeTold: () => void;

  before(async () => {
    root = await writeProject(FILES);
    plan = await planOf(root);
  });
  after(() => rm(root, { recursive: true, force: true }));
  beforeEach(() => {
    store = new SlowStore();
    isCurrent = true;
    isTold = undefined;
    beforeTold = () => undefined;
  });

  const make = (options: Partial<ResidentOptions> = {}): ResidentTables =>
    new ResidentTables([plan], {
      bytes: 10_000_000,
      coherence: () => ({
        start: () => undefined,
        isCurrent: () => isCurrent,
        renew: () => {
          if (isTold === undefined) return undefined;
          return Promise.resolve(isTold).finally(() => beforeTold());
        },
        close: () => undefined,
      }),
      ...options,
    });
  const priceOf = async (resident: ResidentTables, id: string): Promise<unknown> => {
    const { cells, roundTrips } = await fillFrame(
      plan,
      store,
      { candidates: [{ item_id: id }] },
      { resident },
    );
    const [, price] = cells['item.price']?.[0] ?? [];
    return [price, roundTrips];
  };
  const itemKey = (id: string): string => entityKey('millrace', 'item', id);
  const stateOf = (tables: ResidentTables, type: string): ReturnType<ResidentTables['states']>[number] => {
    const state = tables.states().find((one) => one.type === type);
    if (state === undefined) throw new Error(`no table of ${type}`);
    return state;
  };

  it('read the store once, and not again until an invalidation', async () => {
    const tables = make();
    store.put('a', 1);
    expect(await priceOf(tables, 'a')).to.deep.equal([1, 1]);
    expect(await priceOf(tables, 'a')).to.deep.equal([1, 0]);
    store.put('a', 2);
    expect(await priceOf(tables, 'a')).to.deep.equal([1, 0]);
    tables.invalidate([itemKey('a')]);
    expect(await priceOf(tables, 'a')).to.deep.equal([2, 1]);
    expect(stateOf(tables, 'item')).to.include({ rows: 1, hits: 2, misses: 2, invalidations: 1 });
  });

  it('cache that an entity is missing until it is written', async () => {
    const tables = make();
    expect(await priceOf(tables, 'a')).to.deep.equal([NaN, 1]);
    expect(await priceOf(tables, 'a')).to.deep.equal([NaN, 0]);
    store.put('a', 2);
    tables.invalidate([itemKey('a')]);
    expect(await priceOf(tables, 'a')).to.deep.equal([2, 1]);
  });

  it('do not keep a read that a write overtook, but use it for its request', async () => {
    const tables = make();
    store.put('a', 1);
    store.put('b', 1);
    store.held = [];
    const reading = [priceOf(tables, 'a'), priceOf(tables, 'b')];
    await new Promise(setImmediate);
    store.put('a', 2);
    tables.invalidate([itemKey('a')]);
    store.letGo();
    expect(await Promise.all(reading)).to.deep.equal([
      [1, 1],
      [1, 1],
    ]);
    expect(await priceOf(tables, 'a')).to.deep.equal([2, 1]);
    expect(await priceOf(tables, 'b')).to.deep.equal([1, 0]);
  });

  it('do not keep a read that a flush overtook', async () => {
    const tables = make();
    store.put('a', 1);
    store.held = [];
    const reading = priceOf(tables, 'a');
    await new Promise(setImmediate);
    tables.flush();
    store.put('a', 2);
    store.letGo();
    expect(await reading).to.deep.equal([1, 1]);
    expect(await priceOf(tables, 'a')).to.deep.equal([2, 1]);
  });

  it('are neither read nor filled while they are not current', async () => {
    const tables = make();
    store.put('a', 1);
    await priceOf(tables, 'a');
    store.put('a', 2);
    isCurrent = false;
    expect(await priceOf(tables, 'a')).to.deep.equal([2, 1]);
    expect(await priceOf(tables, 'b')).to.deep.equal([NaN, 1]);
    expect(stateOf(tables, 'item')).to.include({ rows: 1, bypasses: 2 });
    isCurrent = true;
    expect(await priceOf(tables, 'b')).to.deep.equal([NaN, 1]);
  });

  it('are used if a renewal confirms that they are current', async () => {
    const tables = make();
    store.put('a', 1);
    await priceOf(tables, 'a');
    isCurrent = false;
    isTold = true;
    expect(await priceOf(tables, 'a')).to.deep.equal([1, 0]);
    expect(await priceOf(tables, 'b')).to.deep.equal([NaN, 1]);
    expect(await priceOf(tables, 'b')).to.deep.equal([NaN, 0]);
    isTold = false;
    expect(await priceOf(tables, 'a')).to.deep.equal([1, 1]);
    isTold = true;
    const reading = priceOf(tables, 'a');
    tables.flush(); // the connection was lost right after it answered
    expect(await reading).to.deep.equal([1, 1]);
  });

  it('are not used if a flush overtook the renewal: another connection may be lost', async () => {
    const tables = make();
    store.put('a', 1);
    await priceOf(tables, 'a');
    isCurrent = false;
    isTold = true;
    beforeTold = () => {
      store.put('a', 2);
      tables.flush();
    };
    expect(await priceOf(tables, 'a')).to.deep.equal([2, 1]);
    beforeTold = () => undefined;
    expect(stateOf(tables, 'item').rows).to.equal(0);
  });

  it('do not keep a record with an unknown layout', async () => {
    const tables = make();
    const strange = new RecordLayout(
      [
        ['price', { kind: 'int' }],
        ['other', { kind: 'bool' }],
      ],
      'item_id',
    );
    store.records.set(itemKey('a'), encodeEntity(strange, { price: 3 }, 'a'));
    expect(await priceOf(tables, 'a')).to.deep.equal([NaN, 1]);
    knownLayouts.add(strange);
    expect(await priceOf(tables, 'a')).to.deep.equal([3, 1]);
    expect(await priceOf(tables, 'a')).to.deep.equal([3, 0]);
  });

  it('distinguish ids with commas, colons, multi-byte characters and prototype names', async () => {
    const tables = make();
    const ids = ['a,b', 'a', 'b', 'a:b', 'é', 'e', '__proto__', 'constructor', 'toString'];
    ids.forEach((id, i) => store.put(id, i));
    for (const id of ids) await priceOf(tables, id);
    tables.invalidate([itemKey('a,b'), itemKey('é')]);
    const trips = [];
    for (const id of ids) trips.push(await priceOf(tables, id));
    expect(trips).to.deep.equal(ids.map((id, i) => [i, id === 'a,b' || id === 'é' ? 1 : 0]));
  });

  it('ignore other keys', () => {
    const tables = make();
    tables.invalidate(['', ':', 'a:b', 'millrace:entity:other:x', 'millrace:features:item:a', 'no colon']);
    expect(tables.states().map(({ invalidations }) => invalidations)).to.deep.equal([0, 0]);
  });

  it('stay within their limit, and keep entities that are read often', async () => {
    const tables = make({ bytes: 20_000 });
    for (let i = 0; i < 2000; i++) {
      store.put(`i${i}`, i);
      await priceOf(tables, `i${i}`);
      expect(await priceOf(tables, 'i0')).to.deep.equal([0, 0]);
      expect(tables.bytes).to.be.at.most(20_000);
    }
    const { rows, evictions } = stateOf(tables, 'item');
    expect(rows).to.be.greaterThan(50);
    expect(evictions).to.equal(2000 - rows);
    tables.flush();
    expect(tables.bytes).to.equal(0);
  });

  it('free memory after most entities of a type are dropped, and keep working', async () => {
    const tables = make();
    const ids = Array.from({ length: 3000 }, (_, i) => `i${i}`);
    ids.forEach((id, i) => store.put(id, i));
    const fill = (some: readonly string[]): Promise<unknown> =>
      fillFrame(plan, store, { candidates: some.map((item_id) => ({ item_id })) }, { resident: tables });
    for (let first = 0; first < ids.length; first += 500) await fill(ids.slice(first, first + 500));
    tables.invalidate(ids.slice(600).map(itemKey));
    expect(stateOf(tables, 'item').rows).to.equal(600);
    store.put('i7', -7);
    tables.invalidate([itemKey('i7')]);
    expect(await priceOf(tables, 'i7')).to.deep.equal([-7, 1]);
    expect(stateOf(tables, 'item')).to.include({ rows: 0, bytes: 0 });
    for (const id of ['i7', 'i8', 'i2999']) await priceOf(tables, id);
    expect(await priceOf(tables, 'i8')).to.deep.equal([8, 0]);
    expect(stateOf(tables, 'item').rows).to.equal(3);
  });

  it('work with a limit of zero bytes', async () => {
    const tables = make({ bytes: 0 });
    store.put('a', 1);
    expect(await priceOf(tables, 'a')).to.deep.equal([1, 1]);
    expect(await priceOf(tables, 'a')).to.deep.equal([1, 1]);
  });

  it('hold only the configured types', async () => {
    const tables = make({ types: new Set(['maker']) });
    expect(tables.states().map(({ type }) => type)).to.deep.equal(['maker']);
    store.put('a', 1);
    await priceOf(tables, 'a');
    expect(await priceOf(tables, 'a')).to.deep.equal([1, 1]);
    const none = make({ types: new Set() });
    expect(none.isEmpty).to.equal(true);
    expect(none.isCurrent()).to.equal(false);
  });

  it('are invalidated by every write through the store before its caller resumes, also by a failed write', async () => {
    const told: string[] = [];
    const changes: Changes = { invalidate: (keys) => told.push(...keys), flush: () => undefined };
    const watched = watchWrites(store, (keys) => changes.invalidate(keys));
    await watched.write([{ key: 'a', value: Buffer.from('1') }]);
    await watched.remove(['b']);
    store.failing = () => true;
    const failed = await watched.write([{ key: 'c', value: Buffer.from('1') }]).catch(() => told.length);
    expect(failed).to.equal(3);
    expect(told).to.deep.equal(['a', 'b', 'c']);
  });
});
