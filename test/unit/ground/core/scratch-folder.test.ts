import { expect } from 'chai';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { removeNow } from '../../../../runtime/ground/core/scratch-folder.js';
import { BIN } from '../../../support/repository.js';
import { itWith } from '../../../support/needs.js';
import { withFiles } from '../../../support/temporary-files.js';

/** Starts a command, sends a signal when it has made its temporary folder, and says what ended it. */
async function endedBy(
  signal: NodeJS.Signals,
  words: readonly string[],
  tmpdir: string,
  hasStarted: () => boolean,
): Promise<unknown> {
  const child = spawn(process.execPath, [BIN, ...words], {
    env: { ...process.env, TMPDIR: tmpdir },
    stdio: 'ignore',
  });
  const exit = once(child, 'exit');
  // Without a pause, so that the signal comes as soon as the folder is there.
  while (!hasStarted() && child.exitCode === null) await nextTurn();
  child.kill(signal);
  const [code, endedWith] = (await exit) as [unknown, unknown];
  return endedWith ?? code;
}

/** Writes 300 files into a folder, and makes the folder again if it is gone. */
const WRITER = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  const { parentPort, workerData: { folder, done } } = require('node:worker_threads');
  for (let i = 0; i < 300; i += 1) {
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(folder + '/' + i, '');
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
    if (i === 20) parentPort.postMessage('writing');
  }
  Atomics.store(done, 0, 1);
`;

describe('a command that a signal ends', () => {
  it('removes a folder into which another thread is writing', () =>
    withFiles({ 'tmp/.keep': '' }, async (root) => {
      const folder = join(root, 'scratch');
      const done = new Int32Array(new SharedArrayBuffer(4));
      const writer = new Worker(WRITER, { eval: true, workerData: { folder, done } });
      const exit = once(writer, 'exit');
      await once(writer, 'message');
      // On a busy machine the writer can pause for longer than the removal waits, and then make the folder again.
      let isOver: boolean;
      do {
        isOver = Atomics.load(done, 0) === 1;
        expect(removeNow(folder)).to.equal(true);
      } while (!isOver);
      expect(existsSync(folder)).to.equal(false);
      expect(await exit).to.deep.equal([0]);
    }));

  itWith('mkfifo', 'dataset build leaves the folder of the data set as it was', () =>
    withFiles({ 'data/keep': '' }, async (root) => {
      const out = join(root, 'new');
      mkdirSync(join(root, 'ledger'));
      // A pipe that nobody writes: the command waits.
      execFileSync('mkfifo', [join(root, 'ledger', 'waiting-000001.mlr')]);
      const words = ['dataset', 'build', '--ledger', join(root, 'ledger'), '--out', out];
      const ended = await endedBy('SIGINT', words, root, () => existsSync(join(out, '.work', 'joined')));
      expect(ended).to.equal('SIGINT');
      expect(readdirSync(out)).to.deep.equal([]);
    }),
  );

  it('demo --loop removes its temporary folder', () =>
    withFiles({ 'tmp/.keep': '' }, async (root) => {
      const tmp = join(root, 'tmp');
      const ended = await endedBy('SIGTERM', ['demo', '--loop'], tmp, () =>
        readdirSync(tmp).some((name) => name.startsWith('millrace-loop-')),
      );
      expect(ended).to.equal('SIGTERM');
      expect(readdirSync(tmp)).to.deep.equal(['.keep']);
    }));
});
