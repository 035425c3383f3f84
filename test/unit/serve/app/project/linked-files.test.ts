import { expect } from 'chai';
import { mkdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileProject } from '../../../../../runtime/serve/app/project/compile-project.js';
import { LinkedFolders } from '../../../../../runtime/project/settings/linked-folders.js';
import { listFiles, versionOfFile } from '../../../../../runtime/serve/app/project/snapshot.js';
import { ProjectWatcher, versionsOf } from '../../../../../runtime/serve/app/project/watcher.js';
import { writeProject } from '../../../../support/project.js';

/** A plugin that takes a file, and gives its version as its own. */
const READER = `export const plugin = { name: 'reader', kind: 'model', summary: 'A test.',
  options: { type: 'object', additionalProperties: false, properties: { file: { millrace: 'file' } } },
  create: ({ file }) => ({ outputs: { value: 'number' }, version: file.content.toString(), compute() {} }) };`;

const PROJECT = {
  'package.json': '{ "type": "module" }',
  'plugins/reader/index.js': READER,
  'pipelines/ranked.yaml':
    'pipeline: ranked\nrank: product\ncomponents:\n  - use: reader\n    with: { file: models/ltr.txt }\n',
};

describe('links of a project', () => {
  let root = '';
  let cache = '';

  beforeEach(async () => {
    root = await writeProject(PROJECT);
    cache = await realpath(await writeProject({ 'ab/12.txt': 'tree 1', 'ab/34.txt': 'tree 2' }));
    await mkdir(join(root, 'models'));
  });
  afterEach(async () => {
    for (const folder of [root, cache]) await rm(folder, { recursive: true, force: true });
  });

  const link = (target: string, path: string): Promise<void> => symlink(target, join(root, path));
  /** What was read of the model file, or the diagnostics. */
  async function read(allowed = ''): Promise<string> {
    const linkedFolders = LinkedFolders.parse(allowed) ?? LinkedFolders.none;
    const compiled = await compileProject(root, { linkedFolders });
    await compiled.close();
    const errors = compiled.diagnostics.filter(({ severity }) => severity === 'error');
    const told = errors.map(
      ({ at, code, message, help = '' }) => `${at.file.path} ${code}: ${message}; ${help}`,
    );
    return told.join('\n') || String(compiled.pipelines[0]?.plan.steps[0]?.version);
  }

  it('may lead to files of the project', async () => {
    await mkdir(join(root, '.dvc/cache'), { recursive: true });
    await writeFile(join(root, '.dvc/cache/12'), 'tree 1');
    await link('../.dvc/cache/12', 'models/ltr.txt');
    expect(await read()).to.equal('tree 1');
  });

  it('may lead to names that begin with two dots, as those of a mounted ConfigMap do', async () => {
    await mkdir(join(root, '..2026_11_21'));
    await writeFile(join(root, '..2026_11_21/ltr.txt'), 'tree 1');
    await link('..2026_11_21', '..data');
    await link('../..data/ltr.txt', 'models/ltr.txt');
    expect(await read()).to.equal('tree 1');
  });

  it('are refused where they leave it, with the setting and the folder', async () => {
    await link(join(cache, 'ab/12.txt'), 'models/ltr.txt');
    expect(await read()).to.equal(
      `pipelines/ranked.yaml missing_file: \`models/ltr.txt\` is a link that leaves the project, to ${cache}/ab/12.txt; ` +
        `allow the target's folder with MILLRACE_LINKED_FOLDERS, e.g. ${cache}/ab`,
    );
    expect(await read('/nowhere')).to.contain('leaves the project');
    expect(await read(`${cache}/a`), 'a folder whose name is longer').to.contain('leaves the project');
  });

  it('may lead to files below a folder that is allowed', async () => {
    await link(join(cache, 'ab/12.txt'), 'models/ltr.txt');
    expect(await read(cache)).to.equal('tree 1');
    await symlink(cache, `${root}-cache`);
    expect(await read(`/nowhere, ${root}-cache`), 'by a link of its own').to.equal('tree 1');
    await rm(`${root}-cache`);
  });

  it('through a folder are links too', async () => {
    await rm(join(root, 'models'), { recursive: true });
    await link(cache, 'models');
    await writeFile(join(cache, 'ltr.txt'), 'tree 3');
    expect(await read()).to.contain(`e.g. ${cache}`);
    expect(await read(cache)).to.equal('tree 3');
  });

  it('may be plugin folders', async () => {
    await writeFile(join(root, 'models/ltr.txt'), 'tree 1');
    await rename(join(root, 'plugins/reader'), join(root, 'built'));
    await link('../built', 'plugins/reader');
    expect(await read()).to.equal('tree 1');
    await rm(join(root, 'plugins/reader'));
    await rename(join(root, 'built'), join(cache, 'reader'));
    await writeFile(join(cache, 'package.json'), '{ "type": "module" }');
    await link(join(cache, 'reader'), 'plugins/reader');
    expect(await read()).to.contain(
      `plugins/reader plugin_failed: \`plugins/reader\` is a link that leaves the project, to ${cache}/reader; allow`,
    );
    expect(await read(cache)).to.equal('tree 1');
  });

  it('to nothing are reported', async () => {
    await link('gone', 'models/ltr.txt');
    await link('gone', 'plugins/other');
    expect(await read()).to.contain('plugins/other plugin_failed: there is no compiled index.js');
    await rm(join(root, 'plugins/other'));
    expect(await read()).to.contain('`models/ltr.txt`');
  });

  describe('while the project is watched', () => {
    let reloads = 0;

    async function watch(): Promise<() => Promise<number>> {
      const files = async (): Promise<Map<string, string | undefined>> =>
        new Map([['models/ltr.txt', await versionOfFile(root, 'models/ltr.txt')]]);
      const watcher = new ProjectWatcher(
        {
          root,
          pollMs: 1,
          files: await files(),
          reload: async () => {
            reloads++;
            return { outcome: 'succeeded', files: await files() };
          },
          onProjectFileChanged: () => false,
        },
        await versionsOf(root, await listFiles(root, [])),
      );
      const looks = async (): Promise<number> => {
        reloads = 0;
        for (let i = 0; i < 4; i++) await watcher.look();
        return reloads;
      };
      expect(await looks()).to.equal(0);
      return looks;
    }

    it('are followed to a target that changes', async () => {
      await link(join(cache, 'ab/12.txt'), 'models/ltr.txt');
      const looks = await watch();
      await writeFile(join(cache, 'ab/12.txt'), 'tree 9');
      expect(await looks()).to.equal(1);
    });

    it('are noticed when they lead elsewhere', async () => {
      await link(join(cache, 'ab/12.txt'), 'models/ltr.txt');
      const looks = await watch();
      await link(join(cache, 'ab/34.txt'), 'models/new');
      await rename(join(root, 'models/new'), join(root, 'models/ltr.txt'));
      expect(await looks()).to.equal(1);
    });

    it('are noticed when a ConfigMap swaps the folder behind them', async () => {
      for (const [folder, text] of [
        ['..1', 'tree 1'],
        ['..2', 'tree 2'],
      ] as const) {
        await mkdir(join(root, folder));
        await writeFile(join(root, folder, 'ltr.txt'), text);
      }
      await link('..1', '..data');
      await link('../..data/ltr.txt', 'models/ltr.txt');
      const looks = await watch();
      await link('..2', '..data_tmp');
      await rename(join(root, '..data_tmp'), join(root, '..data'));
      expect(await looks()).to.equal(1);
      expect(await read()).to.equal('tree 2');
    });
  });
});
