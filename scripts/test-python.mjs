// Tests clients/python against the built service: its wheel, in an environment of its own, .build/python-client.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const client = join(root, 'clients', 'python');
const venv = join(root, '.build', 'python-client');
const wheels = join(root, '.build', 'python-wheel');
const python = join(venv, 'bin', 'python');
const constraints = join(client, 'constraints.txt');
// What is installed, and what cannot be; the environment is used again while the first is the same.
const installed = join(venv, 'installed.json');
const wanted = [constraints, join(client, 'pyproject.toml')]
  .map((path) => readFileSync(path, 'utf8'))
  .join('');
/** What is not tested without each extra. Each installs apart: where one cannot be had, the others are still tested. */
const OPTIONAL = {
  lightgbm: 'training, tables of Arrow, and the notebook',
  plots: 'pictures, and the notebook',
  polars: 'data frames of polars',
  tracking: 'logging to MLflow',
  notebook: 'the notebook of docs/learn/notebook.md',
};
// The build of the package, too, takes the versions of the constraints.
const env = { ...process.env, PIP_CONSTRAINT: constraints, PIP_DISABLE_PIP_VERSION_CHECK: '1' };

const run = (command, args, options = {}) =>
  spawnSync(command, args, { stdio: 'inherit', cwd: client, env, ...options }).status === 0;
const pip = (...args) => run(python, ['-m', 'pip', ...args]);
const install = (...args) => pip('install', '-q', '--no-compile', ...args);

/** @returns the extras that cannot be installed, or why nothing can be tested */
function prepare() {
  if (existsSync(installed)) {
    const found = JSON.parse(readFileSync(installed, 'utf8'));
    if (found.wanted === wanted) return found;
  }
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(dirname(venv), { recursive: true });
  if (!run('python3', ['-m', 'venv', venv])) return { problem: 'python3 with venv cannot be started here' };
  if (!install('.[test]')) return { problem: 'pip cannot install the packages of [test] here (see above)' };
  const missing = Object.keys(OPTIONAL).filter((extra) => !install(`.[${extra}]`));
  writeFileSync(installed, JSON.stringify({ wanted, missing }));
  return { missing };
}

/** Installs the package as users do: from its wheel, and not from its sources. */
function installWheel() {
  rmSync(wheels, { recursive: true, force: true });
  if (!pip('wheel', '-q', '--no-deps', '--no-build-isolation', '-w', wheels, '.')) return false;
  const [wheel] = readdirSync(wheels);
  return (
    install('--no-deps', '--force-reinstall', join(wheels, wheel)) &&
    run(python, ['-c', 'import millrace, sys; sys.exit(not millrace.__file__.startswith(sys.prefix))'])
  );
}

if (!existsSync(join(root, 'dist', 'bundle', 'bin.js'))) {
  console.error('build first: npm run build');
  process.exit(1);
}
const { missing, problem } = prepare();
if (problem !== undefined) {
  console.log(`LEFT OUT: all of clients/python: ${problem}`);
  process.exit(0);
}
const checks = [
  installWheel,
  ...[['ruff', 'check'], ['mypy', '--no-error-summary'], ['pytest']].map(
    (args) => () => run(python, ['-m', ...args]),
  ),
];
const passed = checks.map((check) => check());
for (const extra of missing)
  console.log(`LEFT OUT: ${OPTIONAL[extra]}: pip cannot install the packages of [${extra}] here`);
process.exit(passed.every(Boolean) ? 0 : 1);
