import { expect } from 'chai';
import { EngineAdapter, engineFaults } from '../../runtime/state/store/engine-adapter.js';
import { storeTests } from '../../runtime/cli/testing/store-tests.js';
import { ToyEngine, toyEngine } from '../support/toy-engine.js';
import { storeContract } from './store.js';

// An engine of a package passes the whole contract of Millrace's own engines.
storeContract('an engine of a package', {
  start: () => Promise.resolve(),
  open: async () =>
    new EngineAdapter(await toyEngine.open({ dataDir: '', env: () => undefined, warn: () => undefined })),
  stop: () => Promise.resolve(),
});

describe('the conformance suite of store engines', () => {
  let values = new Map<string, Buffer>();
  const tests = storeTests((again) => {
    if (!again) values = new Map();
    return Promise.resolve(new ToyEngine(values));
  });
  for (const { name, run } of tests) it(`a sound engine: ${name}`, run);

  /** Engines with one fault each, and the test that finds it. */
  const faulty: readonly (readonly [string, Partial<ToyEngine>, string])[] = [
    ['forgets the order', { read: () => Promise.resolve([null]) }, 'in the order of the keys'],
    ['ends a scan early', { scan: () => Promise.resolve({ keys: [], cursor: undefined }) }, 'page by page'],
    ['never removes', { remove: () => Promise.resolve() }, 'replaces and removes'],
    ['ignores updates', { update: () => Promise.resolve() }, 'updates a value'],
    ['does not answer', { ping: () => Promise.reject(new Error('down')) }, 'every method'],
  ];
  for (const [title, members, name] of faulty)
    it(`finds an engine that ${title}`, async () => {
      const found = storeTests(() => Promise.resolve(Object.assign(new ToyEngine(), members)), {
        keeps: false,
      }).find((one) => one.name.includes(name));
      const error: unknown = await Promise.resolve(found?.run()).then(
        () => undefined,
        (one: unknown) => one,
      );
      expect(error, 'the failure of the test').to.be.instanceOf(Error);
    });

  it('names the methods that an engine lacks', () => {
    expect(engineFaults({ read: () => undefined }))
      .to.include('`update`')
      .and.not.include('`read`');
  });
});
