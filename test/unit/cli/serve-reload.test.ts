import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { writeProject } from '../../support/project.js';
import { until } from '../../support/served-project.js';
import { BIN } from '../../support/repository.js';

const PIPELINE = 'pipelines/plain.yaml';

const scoring = (value: string): string =>
  `pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: ${value} }\n`;

interface Line {
  readonly msg: string;
  readonly url?: string;
  readonly file?: string;
  readonly line?: number;
  readonly requests?: number;
  readonly same?: number;
  readonly moved?: number;
  readonly overlap_at_10?: number;
  readonly removed?: { readonly before: number; readonly after: number };
  readonly failed?: { readonly before: number; readonly after: number };
}

describe('millrace serve with a project that changes', () => {
  let root = '';
  let child: ChildProcess;
  let lines: Line[];

  beforeEach(async () => {
    root = await writeProject({ [PIPELINE]: scoring('1') });
  });
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(root, { recursive: true, force: true });
  });

  async function serve(environment: Record<string, string>, ...flags: string[]): Promise<string> {
    const argv = ['serve', '--project', root, '--store', 'embedded', '--port', '0', ...flags];
    const started = spawn(process.execPath, [BIN, ...argv], {
      env: { PATH: process.env.PATH, MILLRACE_LAME_DUCK_MS: '0', ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    lines = [];
    createInterface(started.stdout).on('line', (line) => lines.push(JSON.parse(line) as Line));
    await until(() => lines.some(({ url }) => url !== undefined));
    return lines.find(({ url }) => url !== undefined)?.url ?? '';
  }

  const told = (msg: string): number => lines.filter((line) => line.msg === msg).length;

  async function scoreAt(url: string): Promise<unknown> {
    const response = await fetch(`${url}/api/v1/plain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"candidates":[{"product_id":"p"}]}',
    });
    const { ranked_candidates: ranked } = (await response.json()) as {
      ranked_candidates: { ranked_score: number }[];
    };
    return ranked[0]?.ranked_score;
  }

  it('reloads it at SIGHUP, and keeps the loaded version if the new one has errors', async () => {
    const url = await serve({});
    await writeFile(join(root, PIPELINE), scoring('2'));
    expect(await scoreAt(url)).to.equal(1);
    child.kill('SIGHUP');
    await until(() => told('the project was reloaded') === 1);
    expect(await scoreAt(url)).to.equal(2);

    await writeFile(join(root, PIPELINE), scoring('prodct.price'));
    child.kill('SIGHUP');
    await until(() => told('the reload failed; what served before goes on serving') === 1);
    expect(lines.find(({ file }) => file === PIPELINE)?.line).to.equal(5);
    expect(await scoreAt(url)).to.equal(2);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });

  it('with --watch loads saved changes', async () => {
    const url = await serve({ MILLRACE_RELOAD_POLL_MS: '20' }, '--watch');
    await writeFile(join(root, PIPELINE), scoring('prodct.price'));
    await until(() => told('the reload failed; what served before goes on serving') === 1);
    expect(await scoreAt(url)).to.equal(1);
    await writeFile(join(root, PIPELINE), scoring('3'));
    await until(() => told('the project was reloaded') === 1);
    expect(await scoreAt(url)).to.equal(3);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });

  it('with --diff compares the last logged requests before it takes a reload', async () => {
    const logged = (value: string, more = ''): string =>
      `pipeline: plain\nrank: product\nrequest: { candidates: { price: float } }\ncomponents:\n${more}  - use: score\n    with: { value: ${value} }\nlog: { features: all }\n`;
    await writeFile(join(root, PIPELINE), logged('product.price'));
    const url = await serve(
      { MILLRACE_RELOAD_POLL_MS: '20', MILLRACE_DATA_DIR: join(root, 'data') },
      '--watch',
      '--diff',
      '2',
    );
    const rank = async (...prices: number[]): Promise<void> => {
      const candidates = prices.map((price) => ({ product_id: `p${price}`, price }));
      const answer = await fetch(`${url}/api/v1/plain`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ candidates }),
      });
      expect(answer.status).to.equal(200);
    };
    for (const prices of [[9, 8], [4], [1, 2, 3]]) await rank(...prices);
    // Records are written within 200 ms.
    await pause(500);
    const COMPARED = 'the new project ranks the last requests';
    const reports = (): Line[] => lines.filter(({ msg }) => msg === COMPARED);

    const cheap = '  - use: filter\n    with: { keep: product.price < 3 }\n';
    await writeFile(join(root, PIPELINE), logged('0 - product.price', cheap));
    await until(() => told('the project was reloaded') === 1);
    // The new project removes 4 of the request 4, and turns 3, 2, 1 into 1, 2: 3 is removed, and 1 has another place.
    expect(reports()).to.have.length(1);
    expect(reports()[0]).to.include({ requests: 2, same: 0, moved: 1 });
    expect(reports()[0]?.removed).to.deep.equal({ before: 0, after: 2 });
    expect(reports()[0]?.failed).to.deep.equal({ before: 0, after: 0 });
    // The comparison itself is not logged as a request.
    await writeFile(join(root, PIPELINE), logged('0 - product.price - 1', cheap));
    await until(() => told('the project was reloaded') === 2);
    expect(reports()[1]).to.include({ requests: 2, same: 2, overlap_at_10: 1, moved: 0 });
    expect(reports()[1]?.removed).to.deep.equal({ before: 2, after: 2 });
  });

  it('ends at SIGHUP if reloading is off', async () => {
    await serve({ MILLRACE_RELOAD: 'off' });
    child.kill('SIGHUP');
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });
});
