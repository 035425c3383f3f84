import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { rehearse } from '../../runtime/request/pipeline/rehearse.js';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { startService } from '../../runtime/serve/app/serve.js';
import { knownLayouts } from '../../runtime/state/store/codec/known-layouts.js';
import { LayoutRegistry } from '../../runtime/state/store/layout-registry.js';
import { withFiles } from '../support/temporary-files.js';
import { startInferenceServer } from '../support/inference-server.js';
import { MemoryStore } from '../support/memory-store.js';
import { pluginFiles, writeProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';

/** The names of the steps that ran, by the plugins of the project. */
const ran: string[] = [];
(globalThis as { warmUpRan?: string[] }).warmUpRan = ran;

const files = (port: number): Record<string, string> => ({
  ...pluginFiles(
    'own',
    'feature',
    `return { outputs: { one: 'number' }, compute() { warmUpRan.push('own'); } };`,
  ),
  ...pluginFiles('send', 'effect', `return { run() { warmUpRan.push('send'); } };`),
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  brand: ref(brand)
  tags: list(string)
  seen: timestamp
  look: vector(4)
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, rank: int }\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { query: optional(query), user: optional(user) }
features: [stats]
components:
  - use: text_match
    as: words
    with: { query: query.query, field: product.title }
  - use: own
  - use: open_inference
    as: remote
    on_error: skip
    with: { url: "http://127.0.0.1:${port}", model: sum, inputs: { features: [product.price] }, outputs: { score: sum } }
  - use: score
    with: { value: "coalesce(words:bm25, 0) + coalesce(stats:ctr, 0) + coalesce(product.brand.rank, 0)" }
  - use: send
log: { candidates: all }
`,
});

describe('the warm-up of a service', () => {
  it('leaves no trace', async () => {
    const server = await startInferenceServer();
    try {
      await withFiles(files(server.port), async (root) => {
        const traces = [];
        for (const warmUpMs of ['0', '20000']) {
          const log: string[] = [];
          const logger = pino({ level: 'debug' }, { write: (text) => void log.push(text) });
          const ledger = join(root, 'ledger');
          const settings = loadSettings(
            {
              PORT: '0',
              MILLRACE_WARM_UP_MS: warmUpMs,
              MILLRACE_LEDGER_DIR: ledger,
              MILLRACE_MODEL_HOSTS: `127.0.0.1:${server.port}`,
            },
            { project: root },
          );
          const store = new MemoryStore();
          const before = server.requests.length;
          const service = await startService(settings, { store, logger });
          const metrics = (await (await fetch(`${service.url}/metrics`)).text())
            .split('\n')
            .filter((line) => /^millrace_\w+_(total|count)\b/.test(line) && !line.includes('event_loop'));
          await service.close();
          traces.push({
            metrics,
            log: log.map((line) => (JSON.parse(line) as { msg: string }).msg),
            calls: server.requests.length - before,
            reads: store.reads,
            records: store.records.size,
            ledger: existsSync(ledger),
          });
        }
        expect(traces[1]).to.deep.equal(traces[0]);
        expect(traces[0]?.metrics).not.to.be.empty;
        expect(ran).to.deep.equal([]);
      });
    } finally {
      await server.close();
    }
  });

  it('runs the shipped components of every size of request, and stops in time', async () => {
    const server = await startInferenceServer();
    const own = await writeProject(files(server.port));
    try {
      for (const root of [own, repositoryPath()]) {
        const compiled = await compileProject(root, {
          ...loadSettings({ MILLRACE_MODEL_HOSTS: `127.0.0.1:${server.port}` }, { project: root }),
        });
        const layouts = new LayoutRegistry(new MemoryStore(), 'millrace', knownLayouts);
        expect(compiled.pipelines).not.to.be.empty;
        for (const { plan } of compiled.pipelines) {
          const services = { layouts, now: Date.now };
          expect(await rehearse(plan, services, performance.now() + 60_000), plan.definition.name).to.equal(
            8,
          );
          expect(await rehearse(plan, services, performance.now())).to.equal(0);
          const first = performance.now();
          expect(await rehearse(plan, services, first + 1)).to.be.lessThan(8);
        }
        await compiled.close();
      }
      expect(ran).to.deep.equal([]);
    } finally {
      await server.close();
    }
  });
});
