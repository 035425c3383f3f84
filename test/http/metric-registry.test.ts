import { expect } from 'chai';
import { startService } from '../../runtime/serve/app/serve.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { registeredMetrics } from '../../scripts/metric-registry.js';
import { MemoryStore } from '../support/memory-store.js';
import { withFiles } from '../support/temporary-files.js';
import { post } from './harness.js';

const FILES = {
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: { price: float } }
components:
  - use: score
    with: { value: product.price }
  - use: boost
    when: false
    with: { where: product.price > 1, multiply: 2 }
`,
};
/** Metrics of the primary process, of keys, of TLS, and of plugins that nothing guards in this test. */
const ELSEWHERE = /^millrace_(?:worker|plugin_stray|keys_file|key_expires|tls_certificate)/;

describe('the registry of metrics', () => {
  it('has exactly the metrics of a service, so that the docs list all of them', () =>
    withService(async (url) => {
      const served = [...(await scrape(url)).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
      const listed = registeredMetrics().map(({ name }) => name);
      expect(listed.filter((name) => !ELSEWHERE.test(name)).sort()).to.deep.equal(served.sort());
    }));

  it('has a help text and a name with the unit or kind for each metric', () => {
    const odd = registeredMetrics().filter(
      ({ name, type, help }) =>
        name.startsWith('millrace_') &&
        (!help.endsWith('.') || (type === 'counter') !== name.endsWith('_total')),
    );
    expect(odd.map(({ name }) => name)).to.deep.equal([]);
  });
});

describe('metrics of a service', () => {
  it('have the time of each step that ran', () =>
    withService(async (url) => {
      for (let i = 0; i < 3; i++)
        await post(`${url}/api/v1/ranking`, { candidates: [{ product_id: 'a', price: 2 }] });
      const text = await scrape(url);
      const count = (step: string): string =>
        `step_duration_seconds_count{pipeline="ranking",step="${step}"}`;
      expect(text)
        .to.include(`${count('score')} 3\n`)
        .and.to.include(`${count('boost')} 0\n`);
      expect(text).to.match(/stage_duration_seconds_count\{pipeline="ranking",stage="components"\} 3\n/);
    }));

  it('have the delays of the event loop, the build and the state of the store', () =>
    withService(async (url) => {
      const { version } = await import('../../runtime/project/settings/version.js');
      const blockedUntil = performance.now() + 120;
      while (performance.now() < blockedUntil);
      await new Promise((resolve) => setTimeout(resolve, 30));
      const text = await scrape(url);
      const delays = (le: string): number =>
        Number(new RegExp(`event_loop_delay_seconds_bucket\\{le="${le}"\\} (\\d+)`).exec(text)?.[1]);
      expect(delays('.Inf')).to.be.greaterThan(delays('0.05'));
      expect(text).to.match(
        new RegExp(
          `millrace_build_info\\{version="${version}",node="${process.versions.node}",project="\\w+"\\} 1`,
        ),
      );
      expect(text).to.include('millrace_store_ready 1\n');
      expect(text).to.match(/^millrace_heap_used_ratio 0\.\d+$/m);
      expect(text).not.to.match(/^millrace_store_memory_used_ratio \d/m);
    }));
});

async function withService(use: (url: string) => Promise<void>): Promise<void> {
  await withFiles(FILES, async (root) => {
    const settings = loadSettings({ LOG_LEVEL: 'silent', PORT: '0' }, { project: root });
    const service = await startService(settings, { store: new MemoryStore() });
    try {
      await use(service.url);
    } finally {
      await service.close();
    }
  });
}

async function scrape(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}
