import { expect } from 'chai';
import { layoutKey } from '../../../../runtime/state/store/keys.js';
import { KnownLayouts } from '../../../../runtime/state/store/codec/known-layouts.js';
import { RecordLayout } from '../../../../runtime/state/store/codec/record-layout.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import { MemoryStore } from '../../../support/memory-store.js';

const price = new RecordLayout([['price', { kind: 'float' }]], 'product_id');
const title = new RecordLayout([['title', { kind: 'string' }]], 'product_id');

describe('the layout registry', () => {
  it('reads layouts of another process once, in one round trip', async () => {
    const store = new MemoryStore();
    const writer = new LayoutRegistry(store, 'm', new KnownLayouts());
    await store.write([writer.record(price), writer.record(title)]);
    const reader = new LayoutRegistry(store, 'm', new KnownLayouts());
    await reader.resolve([price.hex, title.hex, price.hex]);
    await reader.resolve([price.hex]);
    expect(reader.get(price.hex)?.text).to.equal(price.text);
    expect(reader.get(title.hex)?.text).to.equal(title.text);
    expect(store.reads).to.equal(1);
  });

  it('reads a layout once if several requests miss it at the same time', async () => {
    const store = new MemoryStore();
    await store.write([new LayoutRegistry(store, 'm', new KnownLayouts()).record(price)]);
    const reader = new LayoutRegistry(store, 'm', new KnownLayouts());
    await Promise.all([
      reader.resolve([price.hex]),
      reader.resolve([price.hex]),
      reader.resolve([price.hex]),
    ]);
    expect(store.reads).to.equal(1);
    expect(reader.get(price.hex)).not.to.equal(undefined);
  });

  it('knows the layouts that it wrote itself', async () => {
    const store = new MemoryStore();
    const registry = new LayoutRegistry(store, 'm', new KnownLayouts());
    registry.record(price);
    await registry.resolve([price.hex]);
    expect(store.reads).to.equal(0);
  });

  it('does not know missing and damaged layouts', async () => {
    const store = new MemoryStore();
    const missing = '0'.repeat(16);
    for (const text of ['', '{', 'null', title.text]) {
      store.records.set(layoutKey('m', price.hex), Buffer.from(text));
      const reader = new LayoutRegistry(store, 'm', new KnownLayouts());
      await reader.resolve([price.hex, missing]);
      expect(reader.get(price.hex), text).to.equal(undefined);
      expect(reader.get(missing)).to.equal(undefined);
    }
  });

  it('retries after the store failed', async () => {
    const store = new MemoryStore();
    await store.write([new LayoutRegistry(store, 'm', new KnownLayouts()).record(price)]);
    const reader = new LayoutRegistry(store, 'm', new KnownLayouts());
    const read = store.read.bind(store);
    store.read = () => Promise.reject(new Error('down'));
    const error: unknown = await reader.resolve([price.hex]).catch((reason: unknown) => reason);
    expect(String(error)).to.contain('down');
    store.read = read;
    await reader.resolve([price.hex]);
    expect(reader.get(price.hex)).not.to.equal(undefined);
  });
});
