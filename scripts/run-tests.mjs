// Runs the compiled tests. Tests that need redis-server start their own server. Without the program they are skipped
// on a developer's machine, and they fail if CI is set.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);

if (spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status !== 0) {
  const how = 'install it with `apt-get install redis-server` or `brew install redis`';
  if (process.env.CI) {
    console.error(`redis-server is not installed, and CI must not skip its tests; ${how}`);
    process.exit(1);
  }
  console.error(`redis-server is not installed, so tests against Redis are skipped; ${how}\n`);
}

const mocha = spawnSync(process.execPath, [require.resolve('mocha/bin/mocha.js'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = mocha.status === 0 ? 0 : 1;
