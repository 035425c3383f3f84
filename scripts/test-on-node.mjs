// `npm run test:node -- 22 24` builds once and runs all tests on each of these versions of Node.
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeOf } from './node-of.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const versions = process.argv.slice(2).filter((argument) => /^\d+$/.test(argument));
const mochaArguments = process.argv.slice(2).filter((argument) => !/^\d+$/.test(argument));
if (versions.length === 0) fail('usage: npm run test:node -- 22 24');

run(process.execPath, ['scripts/build.mjs'], process.env, 'the build failed');
for (const version of versions) {
  const node = nodeOf(version);
  console.log(`\nNode ${version}`);
  // Tests start processes with the name `node`. This makes them use the same version.
  const PATH = [dirname(node), process.env.PATH ?? ''].join(delimiter);
  run(
    node,
    ['scripts/run-tests.mjs', ...mochaArguments],
    { ...process.env, PATH },
    `the tests failed on Node ${version}`,
  );
}

function run(command, args, env, failed) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env });
  if (status !== 0) fail(failed);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
