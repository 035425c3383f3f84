import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Stops } from '../../../../runtime/request/experiments/stops.js';
import { experimentStopKey } from '../../../../runtime/state/store/keys.js';
import type { Store } from '../../../../runtime/state/store/store.js';

/** A store whose replies wait until the test lets them go. A read sees the records of the moment when it was sent. */
class SlowStore {
  readonly records = new Set<string>();
  readonly waiting: (() => void)[] = [];

  read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    const values = keys.map((key) => (this.records.has(key) ? Buffer.from('{}') : null));
    return new Promise((resolve) =>
      this.waiting.push(() => {
        resolve(values);
      }),
    );
  }

  write(records: readonly { readonly key: string }[]): Promise<void> {
    for (const { key } of records) this.records.add(key);
    return this.#confirmed();
  }

  remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.records.delete(key);
    return this.#confirmed();
  }

  /** Lets one reply go. */
  async reply(index = 0): Promise<void> {
    this.waiting.splice(index, 1)[0]?.();
    await nextTurn();
  }

  #confirmed(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

const stopsOf = (store: SlowStore): Stops => new Stops(store as unknown as Store, 'shop');

describe('stops', () => {
  it('stay if a read that was sent before the stop is answered after it', async () => {
    const store = new SlowStore();
    const stops = stopsOf(store);
    const read = stops.read(['a']);
    const stopped = stops.stop('a', 0);
    await store.reply(1);
    await stopped;
    await store.reply();
    await read;
    expect(stops.has('a')).to.equal(true);
  });

  it('end if a read that was sent before the resumption is answered after it', async () => {
    const store = new SlowStore();
    store.records.add(experimentStopKey('shop', 'a'));
    const stops = stopsOf(store);
    const read = stops.read(['a']);
    const resumed = stops.resume('a');
    await store.reply(1);
    await resumed;
    await store.reply();
    await read;
    expect(stops.has('a')).to.equal(false);
  });

  it('are those of the later read if two reads are answered in another order', async () => {
    const store = new SlowStore();
    const stops = stopsOf(store);
    const reads = [stops.read(['a', 'b'])];
    store.records.add(experimentStopKey('shop', 'a'));
    reads.push(stops.read(['a']));
    await store.reply(1);
    await store.reply();
    await Promise.all(reads);
    expect(stops.has('a')).to.equal(true);
  });

  it('of experiments that a read does not name stay', async () => {
    const store = new SlowStore();
    const stops = stopsOf(store);
    const stopped = stops.stop('a', 0);
    await store.reply();
    await stopped;
    const read = stops.read(['b']);
    await store.reply();
    await read;
    expect([stops.has('a'), stops.has('b')]).to.deep.equal([true, false]);
  });
});
