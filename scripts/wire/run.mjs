import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './service.mjs';

/** Where everything is written: below .build, which Git ignores. */
export const BUILD = join(ROOT, '.build', 'wire');
export const TOOLS = join(ROOT, 'clients', 'tools');
export const TYPESCRIPT = join(ROOT, 'clients', 'typescript');

/** The path of a tool of clients/tools. */
export const tool = (name) => join(TOOLS, 'node_modules', '.bin', name);

/** Runs a program to its end. Its output is printed if it fails. @throws Error if it fails */
export async function run(command, args, { cwd = ROOT, env = {}, quiet = true } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  });
  let printed = '';
  child.stdout?.on('data', (data) => (printed += data));
  child.stderr?.on('data', (data) => (printed += data));
  const [code, signal] = await once(child, 'close');
  if (code === 0) return printed;
  throw new Error(`${[command, ...args].join(' ')}: ${code ?? signal}\n${printed}`);
}

/** Installs the packages of a lock file, unless they are there. */
export async function install(folder) {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const mark = join(folder, 'node_modules', '.installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return;
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  writeFileSync(mark, lock);
}

export function write(name, text) {
  mkdirSync(BUILD, { recursive: true });
  const path = join(BUILD, name);
  writeFileSync(path, text);
  return path;
}
