import { expect } from 'chai';
import { rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { versionOfFile, listFiles } from '../../../../../runtime/serve/app/project/snapshot.js';
import { ProjectWatcher, versionsOf } from '../../../../../runtime/serve/app/project/watcher.js';
import { writeProject } from '../../../../support/project.js';

const PIPELINE = 'pipelines/ranking.yaml';
const MODEL = 'models/ltr.txt';

describe('watching a project', () => {
  let root: string;
  let reloads: number;
  let outcome: 'succeeded' | 'failed';
  /** The files that options name, from the next reload on. */
  let named: string[];
  let watcher: ProjectWatcher;

  beforeEach(async () => {
    root = await writeProject({
      [PIPELINE]: 'pipeline: ranking\n',
      [MODEL]: 'tree 1',
      'plugins/own/index.js': 'export const plugin = 1;',
      'plugins/source/index.ts': 'never loaded',
    });
    reloads = 0;
    outcome = 'succeeded';
    named = [MODEL];
    const loaded = await versionsOf(root, await listFiles(root, []));
    watcher = new ProjectWatcher(
      {
        root,
        pollMs: 1,
        files: await filesRead(),
        reload: async () => {
          reloads++;
          return { outcome, files: await filesRead() };
        },
        onProjectFileChanged: () => false,
      },
      loaded,
    );
    await looks(3);
    expect(reloads).to.equal(0);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const filesRead = async (): Promise<Map<string, string | undefined>> =>
    new Map(await Promise.all(named.map(async (path) => [path, await versionOfFile(root, path)] as const)));
  const looks = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await watcher.look();
  };
  const write = (path: string, text: string): Promise<void> => writeFile(join(root, path), text);

  it('reloads once for a changed pipeline, a changed model, a new file and one that is gone', async () => {
    await write(PIPELINE, 'pipeline: ranking # changed\n');
    await looks(4);
    expect(reloads).to.equal(1);
    await write(MODEL, 'tree 2');
    await looks(4);
    expect(reloads).to.equal(2);
    await write('pipelines/other.yaml', 'pipeline: other\n');
    await looks(4);
    expect(reloads).to.equal(3);
    await rm(join(root, 'pipelines/other.yaml'));
    await looks(4);
    expect(reloads).to.equal(4);
  });

  it('takes up a file that is renamed into place, of the same size and time', async () => {
    const { atime, mtime } = await stat(join(root, MODEL));
    await write('models/.ltr.new', 'tree 2');
    await utimes(join(root, 'models/.ltr.new'), atime, mtime);
    await rename(join(root, 'models/.ltr.new'), join(root, MODEL));
    await looks(4);
    expect(reloads).to.equal(1);
  });

  it('waits while a file is being written', async () => {
    for (let written = 1; written < 6; written++) {
      await write(MODEL, 'tree 2 '.repeat(written));
      await looks(1);
    }
    expect(reloads).to.equal(0);
    await looks(2);
    expect(reloads).to.equal(1);
  });

  it('does nothing for a file that was only touched, or written with what it held', async () => {
    await utimes(join(root, PIPELINE), 1, 1);
    await write(MODEL, 'tree 1');
    await looks(4);
    expect(reloads).to.equal(0);
  });

  it('tries what failed again once a file changes, also one that was missing', async () => {
    outcome = 'failed';
    named = ['models/new.txt'];
    await write(PIPELINE, 'pipeline: ranking # with models/new.txt\n');
    await looks(4);
    expect(reloads).to.equal(1);
    await write('models/new.txt', 'tree 3');
    await looks(4);
    expect(reloads).to.equal(2);
    // What serves is of the old model, and its file is still looked at.
    await write(MODEL, 'tree 4');
    await looks(4);
    expect(reloads).to.equal(3);
    outcome = 'succeeded';
    await write('models/new.txt', 'tree 5');
    await looks(4);
    expect(reloads).to.equal(4);
    await write(MODEL, 'nobody reads it any more');
    await looks(4);
    expect(reloads).to.equal(4);
  });

  it('notices what changed while the project was being read', async () => {
    let once = true;
    watcher = new ProjectWatcher(
      {
        root,
        pollMs: 1,
        files: await filesRead(),
        async reload() {
          reloads++;
          const files = await filesRead();
          if (once) await write(MODEL, 'written just after it was read');
          once = false;
          return { outcome, files };
        },
        onProjectFileChanged: () => false,
      },
      await versionsOf(root, await listFiles(root, [])),
    );
    await write(PIPELINE, 'pipeline: ranking # changed\n');
    await looks(6);
    expect(reloads).to.equal(2);
  });

  it('reloads once for the changed code of a plugin, and for a new one', async () => {
    await write('plugins/own/index.js', 'export const plugin = 2;');
    await write('plugins/source/index.ts', 'changed');
    await looks(4);
    expect(reloads).to.equal(1);
    await write('plugins/source/index.js', 'compiled now');
    await looks(4);
    expect(reloads).to.equal(2);
  });
});
