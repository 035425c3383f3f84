// Tests clients/python against the built service: pytest and mypy in an environment of their own, .build/python-client.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const client = join(root, 'clients', 'python');
const venv = join(root, '.build', 'python-client');
const python = join(venv, 'bin', 'python');
const constraints = join(client, 'constraints.txt');
// What is installed; the environment is used again while it is the same.
const installed = join(venv, 'installed');
const wanted = [constraints, join(client, 'pyproject.toml')]
  .map((path) => readFileSync(path, 'utf8'))
  .join('');

function run(command, args, options = {}) {
  return spawnSync(command, args, { stdio: 'inherit', cwd: client, ...options }).status === 0;
}

function install() {
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return true;
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(dirname(venv), { recursive: true });
  // The build of the package, too, takes the versions of the constraints.
  const env = { ...process.env, PIP_CONSTRAINT: constraints, PIP_DISABLE_PIP_VERSION_CHECK: '1' };
  const pip = (...args) => run(python, ['-m', 'pip', 'install', '-q', '--no-compile', ...args], { env });
  if (!run('python3', ['-m', 'venv', venv]) || !pip('-e', '.[test]')) return false;
  if (!pip('-e', '.[lightgbm]'))
    console.log('LightGBM cannot be installed here: training in Python is not tested');
  writeFileSync(installed, wanted);
  return true;
}

if (!existsSync(join(root, 'dist', 'bundle', 'bin.js'))) {
  console.error('build first: npm run build');
  process.exit(1);
}
if (!install()) {
  console.log('Python or its packages cannot be installed here: clients/python is not tested');
  process.exit(0);
}
const passed = [run(python, ['-m', 'mypy', '--no-error-summary']), run(python, ['-m', 'pytest'])];
process.exit(passed.every(Boolean) ? 0 : 1);
