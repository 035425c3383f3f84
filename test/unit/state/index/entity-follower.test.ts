import { expect } from 'chai';
import type { Column } from '../../../../runtime/ground/api/columns.js';
import type { EntityKeeper } from '../../../../runtime/ground/api/entity-keeper.js';
import { EntityFollower } from '../../../../runtime/state/index/entity-follower.js';
import { EntityIndex } from '../../../../runtime/state/index/entity-index.js';
import { watchWrites } from '../../../../runtime/state/store/around.js';
import { OWN_WRITES_ONLY } from '../../../../runtime/state/store/coherence.js';
import { entityKey } from '../../../../runtime/state/store/keys.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import { entityType } from '../../../support/entity-types.js';
import { MemoryStore } from '../../../support/memory-store.js';
import { until } from '../../../support/until.js';

const MOST = 3;
const STRING = { kind: 'string' } as const;

/** The titles of all entities. */
class Titles implements EntityKeeper {
  readonly titles = new Map<string, string>();

  get size(): number {
    return this.titles.size;
  }

  ids(): Iterable<string> {
    return this.titles.keys();
  }

  put(id: string, [column]: readonly Column[]): undefined {
    this.titles.set(id, column?.kind === 'text' ? (column.values[0] ?? '') : '');
  }

  remove(id: string): void {
    this.titles.delete(id);
  }
}

class BrokenStore extends MemoryStore {
  isBroken = false;
  /** Hears of each read before it is answered. */
  onRead: ((keys: readonly string[]) => Promise<void>) | undefined;

  override async read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    await this.onRead?.(keys);
    return this.isBroken ? Promise.reject(new Error('it is broken')) : super.read(keys);
  }
}

describe('entities that a component keeps', () => {
  let follower: EntityFollower | undefined;
  afterEach(() => follower?.close());

  interface Setup {
    readonly store: BrokenStore;
    readonly index: EntityIndex;
    readonly errors: unknown[];
    /** The reads before the follower started. */
    readonly earlier: number;
    readonly started: EntityFollower;
  }
  const start = async (before: number, most = MOST): Promise<Setup> => {
    const store = new BrokenStore();
    const watched = watchWrites(store, (keys) => follower?.invalidate(keys));
    const layouts = new LayoutRegistry(watched, 'm');
    const types = new Map([['product', entityType('product', { title: STRING })]]);
    const index = new EntityIndex({ store: watched, layouts, prefix: 'm', types });
    const entities = Array.from({ length: before }, (_, i) => ({ product_id: `p${i}`, title: `title ${i}` }));
    await index.upload({ entity_type: 'product', entities });
    const errors: unknown[] = [];
    const earlier = store.reads;
    const started = new EntityFollower(
      {
        type: 'product',
        attributes: [
          { path: ['title'], type: STRING, list: false, shape: { kind: 'text', scope: 'candidate' } },
        ],
        most,
        remedy: 'use something else',
        key: 'titles',
        open: () => new Titles(),
      },
      {
        ...{ store: watched, layouts, prefix: 'm' },
        coherence: () => OWN_WRITES_ONLY,
        onError: (error) => errors.push(error),
      },
    );
    follower = started;
    await started.settled();
    return { store, index, errors, earlier, started };
  };
  const titlesOf = (one: EntityFollower): Record<string, string> =>
    Object.fromEntries(one.keeper instanceof Titles ? one.keeper.titles : []);

  it('are all read, and read again when they are written or removed', async () => {
    const { index, started } = await start(2);
    expect(started.problem).to.equal(undefined);
    expect(titlesOf(started)).to.deep.equal({ p0: 'title 0', p1: 'title 1' });
    await index.upload({ entity_type: 'product', entities: [{ product_id: 'p1', title: 'new' }] });
    await index.remove({ entity_type: 'product', entity_ids: ['p0'] });
    await until('the writes', () => JSON.stringify(titlesOf(started)) === '{"p1":"new"}', 8000);
  });

  it('are dropped if there are too many, and read again when there are fewer', async () => {
    const { index, started } = await start(MOST + 1);
    expect(started.problem).to.equal(
      `the index has more than ${MOST} entities of the type product; use something else`,
    );
    expect(titlesOf(started)).to.deep.equal({});
    await index.remove({ entity_type: 'product', entity_ids: ['p0'] });
    started.flush();
    await until('all to be read', () => started.problem === undefined, 8000);
    expect(Object.keys(titlesOf(started)).sort()).to.deep.equal(['p1', 'p2', 'p3']);
    const more = { product_id: 'p9', title: 'one more' };
    await index.upload({ entity_type: 'product', entities: [more] });
    await until('the limit', () => started.problem !== undefined, 8000);
    expect(titlesOf(started)).to.deep.equal({});
  });

  it('are not read to find out that there are too many', async () => {
    const { store, earlier, started } = await start(901, 900);
    expect(started.problem).to.include('more than 900 entities');
    expect(store.reads).to.equal(earlier);
  });

  it('are read again after the store failed, and what was removed meanwhile is gone', async () => {
    const { store, index, errors, started } = await start(2);
    store.isBroken = true;
    await index.upload({ entity_type: 'product', entities: [{ product_id: 'p1', title: 'new' }] });
    await until('a failure', () => errors.length > 0, 8000);
    await until('the write to be late', () => started.lag !== undefined, 8000);
    expect(started.lag).to.match(/^writes since \d{4}-\d\d-\d\dT[\d:.]+Z may be missing$/u);
    store.records.delete(entityKey('m', 'product', 'p0'));
    started.flush();
    store.isBroken = false;
    await until('the writes', () => JSON.stringify(titlesOf(started)) === '{"p1":"new"}', 8000);
    expect(started.problem).to.equal(undefined);
    await until('the last read', () => started.lag === undefined, 8000);
  });

  it('drop more writes than the most entities, read together', async () => {
    const { index, errors, started } = await start(2, 600);
    const more = Array.from({ length: 1000 }, (_, i) => ({ product_id: `p${i}`, title: 'more' }));
    await index.upload({ entity_type: 'product', entities: more });
    await until('the limit', () => started.problem !== undefined, 8000);
    expect([titlesOf(started), errors]).to.deep.equal([{}, []]);
  });

  it('reads what is written while all entities are read again before the rest of them', async () => {
    const { store, index, started } = await start(900, 2000);
    const last = entityKey('m', 'product', 'p899');
    const reads: number[] = [];
    let isWritten = false;
    store.onRead = async (keys) => {
      if (keys.length > 1) reads.push(keys.length);
      else if (keys[0] === last && isWritten) reads.push(1);
      if (isWritten || keys.length === 1) return;
      isWritten = true;
      await index.upload({ entity_type: 'product', entities: [{ product_id: 'p899', title: 'new' }] });
    };
    started.flush();
    await until('all to be read', () => reads.includes(400), 8000);
    expect(reads).to.deep.equal([500, 1, 400]);
    await until('the write', () => titlesOf(started)['p899'] === 'new', 8000);
  });

  it('replaces all entities by as many others', async () => {
    const { store, index, started } = await start(MOST);
    for (let i = 0; i < MOST; i++) store.records.delete(entityKey('m', 'product', `p${i}`));
    await index.upload({ entity_type: 'product', entities: [{ product_id: 'q', title: 'other' }] });
    started.flush();
    await until('the others', () => JSON.stringify(titlesOf(started)) === '{"q":"other"}', 8000);
  });
});
