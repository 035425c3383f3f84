import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FakeServices } from '../../runtime/cli/testing/fake-services.js';
import { defineService } from '../../runtime/ground/api/shared-service.js';
import { Diagnostics } from '../../runtime/project/config/diagnostics/diagnostics.js';
import { placeOf } from '../../runtime/project/config/project/project-files.js';
import { LinkedFolders } from '../../runtime/project/settings/linked-folders.js';
import { OptionFiles } from '../../runtime/request/compile/option-files.js';
import {
  runningServices,
  SharedServices,
  type DeclaredService,
  type RunningServices,
} from '../../runtime/serve/app/plugins/shared-services.js';
import { PluginMetricsRegistry } from '../../runtime/serve/metrics/plugin-metrics.js';
import { compileProject, type CompiledProject } from '../../runtime/serve/app/project/compile-project.js';
import { millrace } from '../support/command-line.js';
import { writeProject } from '../support/project.js';
import { serveFiles } from '../support/served-project.js';
import { until } from '../support/until.js';

const manifest = (name: string): string =>
  JSON.stringify({
    name,
    version: '1.0.0',
    type: 'module',
    millrace: { api: '^1.0', plugins: './index.js' },
  });

/** Two packages: one has the services, the other a plugin that asks for them. What happens is told to `globalThis.told`. */
const files = (tell: string, options = '{ size: 2 }'): Record<string, string> => ({
  'millrace.yaml': `project: shop\nplugins: ['pool-package', 'user-package']\nservices: { pool: ${options} }\n`,
  'pipelines/shop.yaml':
    'pipeline: shop\nrank: product\ncomponents:\n  - { use: pooled }\n  - { use: score, with: { value: pooled:size } }\n',
  'node_modules/pool-package/package.json': manifest('pool-package'),
  'node_modules/pool-package/index.js': `import { defineService } from 'millrace/api';
const tell = (text) => (globalThis['${tell}'] ??= []).push(text);
export const services = {
  pool: defineService({
    summary: 'A pool.',
    options: { type: 'object', additionalProperties: false, required: ['size'], properties: {
      size: { description: 'How many.', type: 'integer', minimum: 1 },
      sick: { description: 'Whether it is sick.', type: 'boolean', default: false } } },
    create: ({ size, sick }, { logger }) => {
      if (size === 13) throw new Error('13 connections are not to be had');
      logger.info('the pool starts');
      tell('create pool ' + size);
      return { size, sick };
    },
    close: ({ size }) => tell('close pool ' + size),
    health: ({ sick }) => { if (sick) throw new Error('the pool is sick'); },
  }),
  counted: defineService({
    summary: 'Counts.',
    needs: ['pool'],
    async create(options, { service }) {
      const { size } = service('pool');
      tell('create counted ' + size);
      return { size: () => size };
    },
    close: () => tell('close counted'),
  }),
};
`,
  'node_modules/user-package/package.json': manifest('user-package'),
  'node_modules/user-package/index.js': `import { definePlugin, Status } from 'millrace/api';
const tell = (text) => (globalThis['${tell}'] ??= []).push(text);
export const plugins = [definePlugin({
  name: 'pooled', kind: 'feature', summary: 'Tells the size.',
  options: { type: 'object', additionalProperties: false, properties: { from: { description: 'A name.', type: 'string', default: 'counted' } } },
  create({ from }, { service }) {
    const counted = service(from);
    return {
      outputs: { size: 'number' },
      compute(input, output) {
        const { values, status } = output.number('size');
        for (const row of input.rows) { values[row] = counted.size(); status[row] = Status.present; }
      },
      close: () => tell('close step'),
    };
  },
})];
`,
});

const toldTo = (name: string): string[] => (globalThis as unknown as Record<string, string[]>)[name] ?? [];
const load = (root: string, running: RunningServices): Promise<CompiledProject> =>
  compileProject(root, { pluginHost: { metrics: new PluginMetricsRegistry(), now: Date.now, running } });
const messages = ({ diagnostics }: CompiledProject): string[] =>
  diagnostics.map(({ message, help, at }) => `${at.file.path}: ${message}; ${help ?? ''}`);

describe('services that packages share', () => {
  it('are created once, kept over loads while nothing changed, and closed last, in reverse order', async () => {
    const running = runningServices();
    const root = await writeProject(files('kept'));
    const first = await load(root, running);
    expect(messages(first)).to.deep.equal([]);
    expect(toldTo('kept')).to.deep.equal(['create pool 2', 'create counted 2']);
    const second = await load(root, running);
    await first.close();
    expect(toldTo('kept').splice(0)).to.deep.equal(['create pool 2', 'create counted 2', 'close step']);
    // Other options: the pool is another one, and so is what needs it. The old ones are closed after their last user.
    const { writeFile } = await import('node:fs/promises');
    await writeFile(join(root, 'millrace.yaml'), files('kept', '{ size: 3 }')['millrace.yaml'] ?? '');
    const third = await load(root, running);
    expect(toldTo('kept').splice(0)).to.deep.equal(['create pool 3', 'create counted 3']);
    expect(await second.close()).to.deep.equal([]);
    expect(toldTo('kept').splice(0)).to.deep.equal(['close step', 'close counted', 'close pool 2']);
    await third.close();
    await third.close();
    expect(toldTo('kept').splice(0)).to.deep.equal(['close step', 'close counted', 'close pool 3']);
  });

  /** Starts a chain of services, the last of which is created when `finish` is called. */
  const startLate = async (running: RunningServices, closed: string[], limitMs: number) => {
    let finish: (value: string) => void = () => undefined;
    const declared = (['lake', 'pool', 'slow'] as const).map((name, i, all): DeclaredService => {
      const plugin = defineService<string, object>({
        summary: 'A service.',
        create: () => (name === 'slow' ? new Promise((resolve) => (finish = resolve)) : name),
        close: (value) => void closed.push(value),
      });
      const needs = all.slice(Math.max(0, i - 1), i);
      return {
        name,
        plugin: { ...plugin, needs },
        package: 'a-package',
        code: '1',
        at: placeOf('millrace.yaml'),
      };
    });
    const diagnostics = new Diagnostics();
    const shared = new SharedServices(running, limitMs);
    await shared.start(declared, {
      options: new Map(),
      files: new OptionFiles('.', LinkedFolders.none),
      contextOf: () => new FakeServices(),
      diagnostics,
    });
    expect(diagnostics.all.map(({ message }) => message)).to.deep.equal([
      `\`a-package\`: its service \`slow\` could not start: it took longer than ${limitMs / 1000} s`,
    ]);
    return { shared, finish: () => finish('late') };
  };

  it('are closed if they are created after the limit', async () => {
    const closed: string[] = [];
    const { shared, finish } = await startLate(runningServices(), closed, 20);
    expect(closed).to.deep.equal([]);
    finish();
    await until('the late service is closed', () => closed.length > 0);
    await shared.release();
    expect(closed).to.deep.equal(['late', 'pool', 'lake']);
  });

  it('are closed after a late one that needs them, if the project is closed before that is created', async () => {
    const closed: string[] = [];
    const { shared, finish } = await startLate(runningServices(), closed, 5000);
    expect(await shared.release()).to.deep.equal([]);
    expect(closed).to.deep.equal([]);
    finish();
    await until('all are closed', () => closed.length === 3);
    expect(closed).to.deep.equal(['late', 'pool', 'lake']);
  }).timeout(20_000);

  it('are closed although a late one that needs them is never created', async () => {
    const closed: string[] = [];
    const { shared } = await startLate(runningServices(), closed, 20);
    await shared.release();
    await until('the others are closed', () => closed.length === 2);
    expect(closed).to.deep.equal(['pool', 'lake']);
  });

  const broken: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    [
      'one that cannot start',
      files('b1', '{ size: 13 }'),
      /millrace\.yaml: `pool-package`: its service `pool` could not start: 13 connections are not to be had; check/,
    ],
    ['wrong options', files('b2', '{ size: 0 }'), /size/],
    [
      'options of no service',
      {
        ...files('b3'),
        'millrace.yaml': files('b3')['millrace.yaml']?.replace('pool: {', 'pol: {') ?? '',
      },
      /no package of the project has a service `pol`; did you mean `pool`\?/,
    ],
    [
      'services that are no mapping',
      { ...files('b4'), 'millrace.yaml': "project: shop\nplugins: ['pool-package']\nservices: [pool]\n" },
      /expected a mapping of services/,
    ],
    [
      'a step that asks for an unknown one',
      {
        ...files('b5'),
        'pipelines/shop.yaml':
          'pipeline: shop\nrank: product\ncomponents:\n  - { use: pooled, with: { from: poool } }\n',
      },
      /pipelines\/shop\.yaml: .*there is no service `poool`: did you mean `pool`\?/,
    ],
    [
      'one whose need is not there',
      {
        ...files('b6'),
        'node_modules/pool-package/index.js': (
          files('b6')['node_modules/pool-package/index.js'] ?? ''
        ).replace("needs: ['pool']", "needs: ['lake']"),
      },
      /its service `counted` needs the service `lake`, which is not there/,
    ],
    [
      'one with wrong members',
      {
        ...files('b7'),
        'node_modules/pool-package/index.js':
          'export const services = { pool: { create: 1, close: 2, needs: 3 } };',
      },
      /services\.pool: the service's `close` is `2`: expected a function/,
    ],
  ];
  for (const [what, project, message] of broken)
    it(`reports ${what} at its place`, async () => {
      const compiled = await load(await writeProject(project), runningServices());
      await compiled.close();
      expect(messages(compiled).join('\n')).to.match(message);
    });

  it('are created and closed by validate, and listed', async () => {
    const root = await writeProject(files('listed'));
    const checked = await millrace(['validate', '--project', root]);
    expect(checked.code, checked.stdout + checked.stderr).to.equal(0);
    expect(toldTo('listed')).to.deep.equal([
      'create pool 2',
      'create counted 2',
      'close step',
      'close counted',
      'close pool 2',
    ]);
    const { stdout } = await millrace(['plugins', '--project', root]);
    expect(stdout).to.match(/pool +service/);
  });

  it('serve requests, show their health in readyz, and are kept by a reload of a pipeline', async () => {
    const project = await serveFiles(files('served', '{ size: 2, sick: true }'));
    try {
      const { json } = await project.post('/api/v1/shop', { candidates: [{ product_id: 'p1' }] });
      expect(JSON.stringify(json)).to.include('"ranked_score":2');
      const ready = await fetch(`${project.url}/readyz`);
      expect(ready.status).to.equal(503);
      expect(await ready.json())
        .to.deep.include({ status: 'NOT_READY' })
        .and.to.have.nested.property('checks.service pool.reason', 'the pool is sick');
      const text = await readFile(join(project.root, 'pipelines/shop.yaml'), 'utf8');
      await project.edit(
        'pipelines/shop.yaml',
        text.replace('value: pooled:size', "value: 'pooled:size * 2'"),
      );
      await project.app.reload(false);
      await until('the reload', async () => {
        const again = await project.post('/api/v1/shop', { candidates: [{ product_id: 'p1' }] });
        return JSON.stringify(again.json).includes('"ranked_score":4');
      });
      await until('the end of the old step', () => toldTo('served').includes('close step'));
      expect(toldTo('served')).to.deep.equal(['create pool 2', 'create counted 2', 'close step']);
    } finally {
      await project.close();
    }
    expect(toldTo('served').slice(-3)).to.deep.equal(['close step', 'close counted', 'close pool 2']);
  });
});
