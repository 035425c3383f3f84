import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApp } from '../../../../runtime/serve/app/app.js';
import { CounterRebuilds, type RebuildState } from '../../../../runtime/serve/feedback/counter-rebuilds.js';
import { loadSettings } from '../../../../runtime/project/settings/settings.js';
import { readGenerations } from '../../../../runtime/state/counters/generation-record.js';
import { generationsKey } from '../../../../runtime/state/store/keys.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import { startProcess } from '../../../support/service-process.js';
import { until } from '../../../support/until.js';
import { withFiles } from '../../../support/temporary-files.js';

const PROJECT = {
  'shop/millrace.yaml': 'project: shop\nevents: { click: {} }\n',
  'shop/schemas/entities/product.yaml': 'entity: product\n',
  'shop/schemas/counters/live.yaml':
    'counter: live\nof: [product]\nfeatures: { clicks: { event: click, window: 7d } }\n',
  'shop/pipelines/search.yaml':
    'pipeline: search\nrank: product\nfeatures: [live]\ncomponents:\n  - use: score\n    with: { value: live:clicks }\n',
};

/** Whether a file of a folder has a text. */
async function contains(folder: string, text: string): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const read = files.map(({ parentPath, name }) => readFile(join(parentPath, name)));
  return (await Promise.all(read)).some((bytes) => bytes.includes(text));
}

describe('the state of a rebuild', () => {
  it('is failed some time after its service was killed, with the reason, and a new rebuild can begin', async function () {
    this.timeout(60_000);
    await withFiles(PROJECT, async (root) => {
      const project = join(root, 'shop');
      const env = { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'data') };
      const service = await startProcess(['--project', project, '--port', '0'], env);
      const answer = await fetch(`${service.url}/api/v1/counters/rebuild`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"counter":"live"}',
      });
      expect(await answer.json()).to.include({ state: 'running', generation: 0 });
      const settings = loadSettings({ ...env, LOG_LEVEL: 'silent' }, { project });
      // The service waits some seconds before it reads the ledger, so it is killed in the middle.
      const key = generationsKey(settings.prefix);
      await until('the rebuild is in the store', () => contains(env.MILLRACE_DATA_DIR, key));
      service.child.kill('SIGKILL');
      await service.ended;
      const app = await createApp(settings);
      try {
        const { store, config } = app;
        const { building } = await readGenerations(store, settings.prefix, 'live');
        expect(building).to.include({ generation: 1 });
        let now = building?.from ?? NaN;
        const rebuilds = new CounterRebuilds({
          ...{ store, counters: config.counters, types: config.entities, kinds: config.events },
          ...{ prefix: settings.prefix, ledger: settings.ledgerDir, hashIds: settings.hashIds },
          layouts: new LayoutRegistry(store, settings.prefix),
          log: { warn: () => undefined },
          clock: () => now,
        });
        const state = (): Promise<RebuildState> => rebuilds.rebuild({ counter: 'live', after: 0 });
        expect(await state()).to.deep.equal({
          counter: 'live',
          state: 'running',
          generation: 0,
          detail: null,
        });
        now += 60_000;
        expect(await state()).to.deep.equal({
          ...{ counter: 'live', state: 'failed', generation: 0 },
          detail: 'it was interrupted, because its process has ended; the counts before it still serve',
        });
        expect(await rebuilds.rebuild({ counter: 'live' })).to.include({ state: 'running', detail: null });
      } finally {
        await app.close();
      }
    });
  });
});
