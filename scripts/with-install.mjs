// `npm run demo` and `npm test` work on a fresh clone: this script installs the packages of the lock file if
// node_modules differs from it, builds, and runs the command. If node_modules is complete, it needs no network. It
// uses plain Node without dependencies.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { removeStale } from './remove-stale.mjs';

// The tools of the tests need a newer Node than the service.
const COMMANDS = {
  demo: { run: ['dist/runtime/cli/bin.js', 'demo'], node: [20, 0] },
  test: { run: ['scripts/run-tests.mjs'], node: [20, 19] },
};

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [name, ...rest] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, name))
  fail(`usage: node scripts/with-install.mjs ${Object.keys(COMMANDS).join('|')}`);

const command = COMMANDS[name];
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < command.node[0] || (major === command.node[0] && minor < command.node[1]))
  fail(
    `npm run ${name} needs Node ${command.node.join('.')} or newer; this is Node ${process.versions.node}`,
  );

install();
build();
run([...command.run, ...rest]);

function install() {
  const stamp = join(root, 'node_modules', '.millrace-lock');
  const wanted = fingerprint();
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
  if (installed === wanted && isWhole()) return;
  // The installed packages count, even if someone ran `npm ci` by hand.
  if (!(installed === undefined && isWhole())) {
    const first = existsSync(join(root, 'node_modules'))
      ? 'node_modules does not match the lock file'
      : 'first run';
    console.error(`Installing packages (${first}; about half a minute) …`);
    step(
      'npm ci',
      npmCommand(['ci', '--no-engine-strict', '--loglevel=error']),
      'the packages could not be installed',
    );
  }
  writeFileSync(stamp, wanted);
}

// Hashes the lock file and the platform that native packages are built for.
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  return hash.update(`${process.platform} ${process.arch} ${process.versions.modules}`).digest('hex');
}

// npm stores a list of the installed packages beside them. Every package in it must be in the lock file with the same
// version and be on the disk. Every package that the lock file requires for this machine must be in it.
function isWhole() {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const there = JSON.parse(readFileSync(record, 'utf8')).packages ?? {};
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {};
  const strays = Object.entries(there).some(
    ([path, { version }]) =>
      wanted[path]?.version !== version || !existsSync(join(root, path, 'package.json')),
  );
  const gaps = Object.entries(wanted).some(
    ([path, entry]) => path !== '' && !entry.optional && !entry.devOptional && there[path] === undefined,
  );
  return !strays && !gaps;
}

function build() {
  const dist = join(root, 'dist');
  if (!existsSync(dist)) console.error('Building (first run, a few seconds) …');
  removeStale(root);
  step('build', [process.execPath, ['scripts/build.mjs']], 'the build failed');
}

function npmCommand(args) {
  // npm passes its own location to its scripts. That copy needs no shell, also on Windows.
  const npm = process.env.npm_execpath;
  if (npm !== undefined && /\.c?js$/.test(npm)) return [process.execPath, [npm, ...args]];
  return process.platform === 'win32' ? ['npm.cmd', args] : ['npm', args];
}

function step(what, [command, args], failed) {
  try {
    execFileSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  } catch (error) {
    fail(`${failed} (${what} ended with ${error.status ?? error.code})`);
  }
}

function run(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  // A terminal sends Ctrl-C to the child too. A signal to this process alone is forwarded.
  const terminal = [0, 1, 2].some((stream) => isatty(stream));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !terminal) child.kill(signal);
    });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}

function fail(message) {
  console.error(`\n${message}`);
  process.exit(1);
}
