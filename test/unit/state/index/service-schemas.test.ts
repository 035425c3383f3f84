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
  function open(
    prefix = 'shop',
    instance = 'a',
    settings = {},
  ): {
    readonly say: () => Promise<readonly string[]>;
    readonly details: () => string;
    readonly close: () => Promise<void>;
  } {
    const log = { info: () => undefined, warn: () => undefined };
    const monitor = new StoreMonitor(log);
    const layouts = new LayoutRegistry(store, prefix);
    const schemas = new ServiceSchemas({ store, layouts, prefix, monitor, instance, project: 'p', settings });
    return {
      async say() {
        await schemas.use({ entities, views: new Map() });
        return monitor.warnings().map(({ code }) => code);
      },
      details: () =>
        monitor
          .warnings()
          .map(({ detail }) => detail)
          .join(),
      close: () => schemas.close(),
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

  it('has a warning of settings that differ, until they are equal or the other one has ended', async () => {
    const first = open('shop', 'a', { MILLRACE_ID_SALT: '1', MILLRACE_HASH_IDS: '2' });
    const second = open('shop', 'b', { MILLRACE_ID_SALT: '9', MILLRACE_HASH_IDS: '2', MILLRACE_NEW: '3' });
    expect(await first.say()).to.deep.equal([]);
    expect(await second.say()).to.deep.equal(['settings_differ']);
    expect(second.details()).to.match(/other values of MILLRACE_ID_SALT\. /);
    expect(await first.say()).to.deep.equal(['settings_differ']);
    expect(await open('apart', 'c', { MILLRACE_ID_SALT: '7' }).say()).to.deep.equal([]);
    await second.close();
    expect(await first.say()).to.deep.equal([]);
  });

  it('has none where entities were deleted and the record of the services stays', async () => {
    load();
    const service = open();
    await service.say();
    store.records.delete('shop:entity:product:p1');
    expect(await service.say()).to.deep.equal([]);
  });
});
