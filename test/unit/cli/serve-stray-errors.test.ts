import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { pluginFiles, writeProject } from '../../support/project.js';
import { BIN } from '../../support/repository.js';

interface LogLine {
  readonly msg: string;
  readonly url?: string;
  readonly plugin?: string;
  readonly kind?: string;
  readonly error?: { readonly message: string };
}

describe('millrace serve with a plugin that has uncaught errors', () => {
  let root = '';
  let child: ChildProcess | undefined;
  afterEach(async () => {
    child?.kill('SIGKILL');
    await rm(root, { recursive: true, force: true });
  });

  /** Serves a rule whose `apply` runs the case that the request's query names. */
  async function serve(cases: Readonly<Record<string, string>>): Promise<{ url: string; log: LogLine[] }> {
    const code = Object.entries(cases).map(([name, text]) => `${name}() { ${text} }`);
    root = await writeProject({
      'package.json': '{ "type": "module" }',
      ...pluginFiles(
        'stray',
        'rule',
        `const cases = { ${code.join(', ')} };
         cases.start?.();
         const which = build.need('query.query');
         return { apply(input) {
           cases[input.column(which).values[0]]?.();
           return { applied: 0, skipped: 0 };
         } };`,
      ),
      'pipelines/ranked.yaml':
        'pipeline: ranked\nrank: product\nrequest: { query: query }\ncomponents:\n  - use: stray\n',
    });
    child = spawn(process.execPath, [BIN, 'serve', '--project', root, '--store', 'embedded', '--port', '0'], {
      env: { PATH: process.env.PATH, MILLRACE_LAME_DUCK_MS: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const log: LogLine[] = [];
    const lines = createInterface(child.stdout as NonNullable<typeof child.stdout>);
    const url = await new Promise<string>((found, failed) => {
      lines.on('line', (text) => {
        const line = JSON.parse(text) as LogLine;
        log.push(line);
        if (line.url !== undefined) found(line.url);
      });
      lines.on('close', () => failed(new Error('the process ended before it listened')));
    });
    return { url, log };
  }

  const rank = async (url: string, query: string): Promise<number> => {
    const response = await fetch(`${url}/api/v1/ranked`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ candidates: [{ product_id: 'p' }], query: { query } }),
    });
    await response.text();
    return response.status;
  };

  it('logs and counts them, and continues', async () => {
    const { url, log } = await serve({
      start:
        "setTimeout(() => { throw new Error('as it starts'); }); Promise.reject(new Error('left at start'));",
      late: "setTimeout(() => { throw new Error('too late'); });",
      floating: "void (async () => { throw new Error('nobody waits'); })();",
      library: "void import('node:fs/promises').then((fs) => fs.readFile('/nothing/here'));",
      text: "Promise.reject('only a text');",
    });
    for (const query of ['late', 'floating', 'library', 'text']) expect(await rank(url, query)).to.equal(200);
    const strays = (): LogLine[] =>
      log.filter(({ msg }) => msg === 'a plugin left an error that nothing caught');
    while (strays().length < 6) await pause(10);
    expect(
      strays().map(({ plugin, kind, error }) => [plugin, kind, error?.message.split(',')[0]]),
    ).to.have.deep.members([
      ['stray', 'exception', 'as it starts'],
      ['stray', 'rejection', 'left at start'],
      ['stray', 'exception', 'too late'],
      ['stray', 'rejection', 'nobody waits'],
      ['unknown', 'rejection', 'ENOENT: no such file or directory'],
      ['unknown', 'rejection', 'the thrown value is not an Error'],
    ]);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics)
      .to.contain('millrace_plugin_stray_errors_total{plugin="stray",kind="exception"} 2')
      .and.contain('millrace_plugin_stray_errors_total{plugin="unknown",kind="rejection"} 2');
    const exit = once(child as ChildProcess, 'exit');
    child?.kill('SIGTERM');
    expect(await exit).to.deep.equal([0, null]);
  });

  it('closes and ends with 1 if it cannot attribute an exception to a plugin', async () => {
    const { url, log } = await serve({ foreign: "setTimeout(JSON.parse, 0, '{');" });
    const exit = once(child as ChildProcess, 'exit');
    expect(await rank(url, 'foreign')).to.equal(200);
    expect(await exit).to.deep.equal([1, null]);
    expect(log.map(({ msg }) => msg)).to.include('stopping after an error that nothing caught');
  });

  for (const [what, code, plugin] of [
    ['in a request', 'process.exit(0);', 'stray'],
    ['in a callback', 'setTimeout(() => process.exit(0));', 'stray'],
    ['in no function of its own', 'setTimeout(process.exit, 0, 0);', 'unknown'],
  ] as const)
    it(`says which plugin ended the process with process.exit ${what}, and ends with 1`, async () => {
      const { url, log } = await serve({ leave: code });
      const exit = once(child as ChildProcess, 'exit');
      await rank(url, 'leave').catch(() => undefined);
      expect(await exit).to.deep.equal([1, null]);
      const line = log.find(({ msg }) => msg === 'a plugin ended the process with process.exit');
      expect(line?.plugin).to.equal(plugin);
      expect(line?.error?.message).to.equal('process.exit(0) was called');
    });
});

describe('millrace validate with a plugin that has uncaught errors', () => {
  it('reports them without a stack, and ends with 1', async () => {
    const root = await writeProject({
      'package.json': '{ "type": "module" }',
      ...pluginFiles(
        'stray',
        'rule',
        `setTimeout(() => { throw new Error('too late'); });
         Promise.reject(new Error('nobody waits'));
         return { apply: () => ({ applied: 0, skipped: 0 }) };`,
      ),
      'pipelines/ranked.yaml': 'pipeline: ranked\nrank: product\ncomponents:\n  - use: stray\n',
    });
    const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, 'validate', '--project', root], {
      encoding: 'utf8',
    });
    await rm(root, { recursive: true, force: true });
    expect(status).to.equal(1);
    expect(stdout).to.match(/^ok: 1 pipeline/);
    expect(stderr.trim().split('\n').sort()).to.deep.equal([
      'error: the plugin stray did not handle an error: nobody waits',
      'error: the plugin stray did not handle an error: too late',
    ]);
  });

  for (const [what, code] of [
    ['when it is created', undefined],
    ['when its module is loaded', 'process.exit(0);'],
  ] as const)
    it(`names a plugin that calls process.exit ${what}, and ends with 1`, async () => {
      const root = await writeProject({
        'package.json': '{ "type": "module" }',
        ...pluginFiles('leaver', 'rule', 'process.exit(0);'),
        ...(code === undefined ? {} : { 'plugins/leaver/index.js': code }),
        'pipelines/ranked.yaml': 'pipeline: ranked\nrank: product\ncomponents:\n  - use: leaver\n',
      });
      const { status, stderr } = spawnSync(process.execPath, [BIN, 'validate', '--project', root], {
        encoding: 'utf8',
      });
      await rm(root, { recursive: true, force: true });
      expect([status, stderr]).to.deep.equal([
        1,
        'error: the plugin leaver ended the command: process.exit(0) was called\n',
      ]);
    });
});
