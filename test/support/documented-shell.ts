import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { freePort } from './redis-server.js';
import { BIN, repositoryPath } from './repository.js';

/** A block of commands of a page, and the output that the page shows for it. */
interface ShellStep {
  readonly heading: string;
  readonly commands: string;
  readonly output: string;
}

/** The blocks `sh run` of a page, each with the block `text` below it. */
export function shellSteps(page: string): ShellStep[] {
  return [...page.matchAll(/^```sh run\n([^]*?)^```\n+```text\n([^]*?)^```$/gm)].map((found) => ({
    heading: [...page.slice(0, found.index).matchAll(/^## (.+)$/gm)].at(-1)?.[1] ?? '',
    commands: found[1] ?? '',
    output: found[2] ?? '',
  }));
}

/** The block `sh install` of docs/start.md: how a user installs the packed Millrace. */
export function installStep(page: string): ShellStep {
  const [, commands = ''] = /^```sh install\n([^]*?)^```$/m.exec(page) ?? [];
  return { heading: 'Install', commands, output: '…' };
}

/**
 * Runs all blocks in one shell, in a folder of its own.
 * @param pagePorts the ports of the page; free ones replace them
 * @param tarball the packed Millrace, if the first block installs it: it is then in `../millrace`, and the home folder stays.
 *   Otherwise `millrace` is the command of this repository.
 * @returns what each block printed to standard output
 */
export async function runShellSteps(
  steps: readonly ShellStep[],
  pagePorts: readonly string[],
  tarball?: string,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-page-'));
  const ports = new Map<string, string>();
  // The page sorts lines by port, so the free ports have the order of the ports that they replace.
  const free: number[] = [];
  for (let i = 0; i < pagePorts.length; i++) free.push(await freePort());
  free.sort((one, other) => one - other);
  for (const [i, port] of [...pagePorts].sort((one, other) => Number(one) - Number(other)).entries())
    ports.set(port, String(free[i]));
  const replaced = (text: string, pairs: Iterable<readonly [string, string]>): string =>
    [...pairs].reduce((all, [from, to]) => all.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to), text);
  const mark = '=== end of a block ===';
  const script = steps.map(({ commands }) => `${replaced(commands, ports)}\necho; echo '${mark}'\n`).join('');
  const cwd = tarball === undefined ? folder : join(folder, 'new');
  if (tarball === undefined) {
    const command = join(folder, 'millrace');
    await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
    await chmod(command, 0o755);
  } else {
    for (const name of ['new', 'millrace']) await mkdir(join(folder, name));
    await copyFile(tarball, join(folder, 'millrace', basename(tarball)));
  }
  const home = tarball === undefined ? folder : process.env.HOME;
  await writeFile(join(folder, 'page.sh'), script);
  // A process group of its own, so that what the page started ends with it.
  const shell = spawn('bash', [join(folder, 'page.sh')], {
    cwd,
    detached: true,
    env: { PATH: `${folder}:${process.env.PATH ?? ''}`, HOME: home, MILLRACE: repositoryPath() },
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
      // Without a process, the number would name the group of this process.
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // Everything has ended.
    }
    await rm(folder, { recursive: true, force: true });
  }
}

/** A page's output as a pattern: `…` is any text, and line ends at the end do not count. */
export function outputPattern(output: string): RegExp {
  const parts = output
    .trimEnd()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}\\s*$`);
}
