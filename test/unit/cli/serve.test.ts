import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { pluginFiles, writeProject } from '../../support/project.js';
import { BIN } from '../../support/repository.js';

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
}

describe('millrace serve', () => {
  let root = '';
  before(async () => {
    root = await writeProject({
      'pipelines/plain.yaml':
        'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
    });
  });
  after(async () => {
    await rm(root, { recursive: true });
  });

  async function serve(): Promise<Served> {
    const child = spawn(
      process.execPath,
      [BIN, 'serve', '--project', root, '--store', 'embedded', '--port', '0'],
      {
        env: { PATH: process.env.PATH, MILLRACE_LAME_DUCK_MS: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    for await (const line of createInterface(child.stdout)) {
      const { url } = JSON.parse(line) as { readonly url?: string };
      if (url !== undefined) return { child, url };
    }
    throw new Error('the process ended before it listened');
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    it(`answers until ${signal}, then ends with 0 and releases the data folder`, async () => {
      const { child, url } = await serve();
      const exit = once(child, 'exit');
      const response = await fetch(`${url}/api/v1/plain`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"candidates":[{"product_id":"p"}]}',
      });
      expect(await response.json()).to.deep.equal({
        ranked_candidates: [{ candidate_id: 'p', ranked_score: 1 }],
      });
      child.kill(signal);
      expect(await exit).to.deep.equal([0, null]);
    });

  it('prints only lines of its log, whatever plugins and Node print', async () => {
    const project = await writeProject({
      'package.json': '{ "type": "module" }',
      'pipelines/plain.yaml':
        'pipeline: plain\nrank: product\ncomponents:\n  - use: chatty\n  - use: score\n    with: { value: 1 }\n',
      ...pluginFiles(
        'chatty',
        'effect',
        `console.log('made', { by: build.name }); console.error(new Error('a stack')); process.emitWarning('a warning'); return { run() {} };`,
      ),
    });
    const child = spawn(
      process.execPath,
      [BIN, 'serve', '--project', project, '--store', 'embedded', '--port', '0'],
      {
        env: { PATH: process.env.PATH, MILLRACE_LAME_DUCK_MS: '0', MILLRACE_DATA_DIR: `${project}/data` },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const exit = once(child, 'exit');
    const logged: { msg?: string; source?: string; level?: number }[] = [];
    for await (const line of createInterface(child.stdout)) {
      logged.push(JSON.parse(line) as object);
      if (line.includes('"listening"')) child.kill('SIGTERM');
    }
    await exit;
    await rm(project, { recursive: true });
    expect(stderr).to.equal('');
    const printed = logged.filter(({ source }) => source !== undefined);
    expect(printed.map(({ level, source }) => [level, source])).to.deep.equal([
      [30, 'console'],
      [50, 'console'],
      [40, 'node'],
    ]);
    expect(printed[0]?.msg).to.equal("made { by: 'chatty' }");
    expect(printed[1]?.msg).to.include('Error: a stack');
    expect(printed[2]?.msg).to.equal('a warning');
  });

  it('rejects a second process for one data folder, and names the first process', async () => {
    const { child } = await serve();
    const exit = once(child, 'exit');
    const second = spawn(
      process.execPath,
      [BIN, 'serve', '--project', root, '--store', 'embedded', '--port', '0'],
      {
        env: { PATH: process.env.PATH, MILLRACE_LAME_DUCK_MS: '0' },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let stderr = '';
    second.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    expect(await once(second, 'close')).to.deep.equal([1, null]);
    expect(stderr).to.contain('data_folder_in_use').and.to.contain(String(child.pid));
    child.kill('SIGTERM');
    await exit;
  });
});
