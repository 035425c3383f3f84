import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { FromArm, OpenArm } from '../../../../runtime/cli/shadow/messages.js';

const PROCESS = fileURLToPath(new URL('../../../../runtime/cli/shadow/arm-process.js', import.meta.url));

describe('the process of an arm', () => {
  it('has a low CPU priority, in each of its threads', async function () {
    this.timeout(60_000);
    const child = fork(PROCESS, [], { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    try {
      const open: OpenArm = {
        ...{ type: 'open', pipeline: 'search', against: 'search', params: {} },
        flags: { project: '/nowhere' },
      };
      child.send(open);
      // It has loaded all its code when it says that there is no project.
      const [answer] = (await once(child, 'message')) as [FromArm];
      expect(answer.type).to.equal('refused');
      const { pid = 0 } = child;
      expect(getPriority(pid)).to.equal(constants.priority.PRIORITY_BELOW_NORMAL);
      if (process.platform !== 'linux') return;
      const threads = readdirSync(`/proc/${pid}/task`);
      const values = threads.map((thread) => niceOf(`/proc/${pid}/task/${thread}/stat`));
      expect(threads.length).to.be.greaterThan(2);
      expect(new Set(values)).to.deep.equal(new Set([constants.priority.PRIORITY_BELOW_NORMAL]));
    } finally {
      child.kill('SIGKILL');
    }
  });
});

/** The nice value of a thread: the 19th field of its stat. */
function niceOf(path: string): number {
  const stat = readFileSync(path, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
}
