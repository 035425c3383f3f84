import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, needRedisServer } from '../support/redis-server.js';
import { repositoryPath } from '../support/repository.js';

/** A block of commands, and the output that the page shows for it. */
interface Step {
  readonly heading: string;
  readonly commands: string;
  readonly output: string;
}

const PAGE = 'docs/operate.md';
/** The ports of the page. The test takes free ones instead. */
const PORTS = ['6379', '5001', '5002', '9090'];

describe(PAGE, () => {
  before(function () {
    needRedisServer(this);
    if (spawnSync('promtool', ['--version']).error === undefined) return;
    if (process.env.CI) throw new Error('prometheus is not installed, and CI must not skip this test');
    this.skip();
  });

  it('has commands that print what the page shows', async function () {
    this.timeout(180_000);
    const steps = stepsOf(await readFile(repositoryPath(PAGE), 'utf8'));
    expect(steps.length).to.be.greaterThan(8);
    const printed = await run(steps);
    const different = steps.flatMap(({ heading, output }, i) =>
      patternOf(output).test(printed[i] ?? '') ? [] : [`${heading}: ${printed[i] ?? 'nothing'}`],
    );
    expect(different.join('\n')).to.equal('');
  });
});

function stepsOf(page: string): Step[] {
  return [...page.matchAll(/^```sh run\n([^]*?)^```\n+```text\n([^]*?)^```$/gm)].map((found) => ({
    heading: [...page.slice(0, found.index).matchAll(/^## (.+)$/gm)].at(-1)?.[1] ?? '',
    commands: found[1] ?? '',
    output: found[2] ?? '',
  }));
}

/** Runs all blocks in one shell, and returns what each printed to standard output. */
async function run(steps: readonly Step[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-operate-'));
  const ports = new Map<string, string>();
  // The page sorts lines by port, so the free ports have the order of the ports that they replace.
  const free: number[] = [];
  for (let i = 0; i < PORTS.length; i++) free.push(await freePort());
  free.sort((one, other) => one - other);
  for (const [i, port] of [...PORTS].sort((one, other) => Number(one) - Number(other)).entries())
    ports.set(port, String(free[i]));
  const replaced = (text: string, pairs: Iterable<readonly [string, string]>): string =>
    [...pairs].reduce((all, [from, to]) => all.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to), text);
  const mark = '=== end of a block ===';
  const script = steps.map(({ commands }) => `${replaced(commands, ports)}\necho; echo '${mark}'\n`).join('');
  const command = join(folder, 'millrace');
  const bin = repositoryPath('dist', 'runtime', 'cli', 'bin.js');
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
  await chmod(command, 0o755);
  await writeFile(join(folder, 'page.sh'), script);
  // A process group of its own, so that what the page started ends with it.
  const shell = spawn('bash', ['page.sh'], {
    cwd: folder,
    detached: true,
    env: { PATH: `${folder}:${process.env.PATH ?? ''}`, HOME: folder, MILLRACE: repositoryPath() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    let [output, errors] = ['', ''];
    shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    shell.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    await once(shell, 'exit');
    const documented = [...ports].map(([from, to]) => [to, from] as const);
    const blocks = replaced(output, documented).split(`\n${mark}\n`);
    expect(blocks.length, `${output}\n${errors}`).to.equal(steps.length + 1);
    return blocks;
  } finally {
    try {
      process.kill(-(shell.pid ?? 0), 'SIGKILL');
    } catch {
      // Everything has ended.
    }
    await rm(folder, { recursive: true, force: true });
  }
}

/** The output as a pattern: `…` is any text, and line ends at the end do not count. */
function patternOf(output: string): RegExp {
  const parts = output
    .trimEnd()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}\\s*$`);
}
