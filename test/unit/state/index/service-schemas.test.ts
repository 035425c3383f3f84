import { expect } from 'chai';
import { ServiceSchemas } from '../../../../runtime/state/index/service-schemas.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import { StoreMonitor } from '../../../../runtime/state/store/store-monitor.js';
import { MemoryStore } from '../../../support/memory-store.js';
import { entityType } from '../../../support/entity-types.js';

describe('a store that lost its data', () => {
  let store: MemoryStore;
  beforeEach(() => (store = new MemoryStore()));

  const entities = new Map([['product', entityType('product', { price: { kind: 'float' } })]]);
  function open(prefix = 'shop', instance = 'a'): { say: () => Promise<readonly string[]> } {
    const log = { info: () => undefined, warn: () => undefined };
    const monitor = new StoreMonitor(log);
    const layouts = new LayoutRegistry(store, prefix);
    const schemas = new ServiceSchemas({ store, layouts, prefix, monitor, instance, project: 'p' });
    return {
      async say() {
        await schemas.use({ entities, views: new Map() });
        return monitor.warnings().map(({ code }) => code);
      },
    };
  }
  const load = (): void => void store.records.set('shop:entity:product:p1', Buffer.from('x'));

  it('has no warning where it never had data', async () => {
    const service = open();
    expect(await service.say()).to.deep.equal([]);
    expect(await service.say()).to.deep.equal([]);
    store.records.clear();
    expect(await service.say()).to.deep.equal([]);
  });

  it('has a warning after it was flushed, until data is there again', async () => {
    const service = open();
    await service.say();
    load();
    expect(await service.say()).to.deep.equal([]);
    store.records.clear();
    expect(await service.say()).to.deep.equal(['store_emptied']);
    expect(await service.say()).to.deep.equal(['store_emptied']);
    load();
    expect(await service.say()).to.deep.equal([]);
  });

  it('has it at every instance that saw the data, and not under another prefix', async () => {
    load();
    const services = [open(), open('shop', 'b')];
    const other = open('other', 'c');
    for (const service of [...services, other]) expect(await service.say()).to.deep.equal([]);
    store.records.clear();
    for (const service of services) expect(await service.say()).to.deep.equal(['store_emptied']);
    expect(await other.say()).to.deep.equal([]);
    expect(await open('shop', 'd').say()).to.deep.equal([]);
  });

  it('has none where entities were deleted and the record of the services stays', async () => {
    load();
    const service = open();
    await service.say();
    store.records.delete('shop:entity:product:p1');
    expect(await service.say()).to.deep.equal([]);
  });
});
