// `npm run demo` and `npm test` work on a fresh clone: this script installs the packages of the lock file if
// node_modules differs from it, builds what changed, and runs the command. If node_modules is complete, it needs no network.
// It uses plain Node without dependencies. Each step shows how long it takes, as it runs.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { removeStale } from './remove-stale.mjs';

// The tools of the tests need a newer Node than the service. The demo needs the bundle alone, which takes seconds.
const COMMANDS = {
  demo: { run: ['dist/bundle/bin.js', 'demo'], node: [20, 0], build: ['--bundle'], takes: '2 to 10 s' },
  test: { run: ['scripts/run-tests.mjs'], node: [20, 19], build: [], takes: '10 to 60 s' },
};
// What a build reads.
const SOURCES = [
  'runtime',
  'plugins',
  'test',
  'bench',
  'scripts',
  'clients/workbench',
  'schemas',
  'clients/python/src',
];
/** Milliseconds between the lines of a step where there is no terminal. */
const STILL_MS = 20_000;

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

await install();
await build(command.build);
run([...command.run, ...rest]);

async function install() {
  const stamp = join(root, 'node_modules', '.millrace-lock');
  const wanted = fingerprint();
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
  if (installed === wanted && isWhole()) return;
  // The installed packages count, even if someone ran `npm ci` by hand.
  if (!(installed === undefined && isWhole())) {
    const first = existsSync(join(root, 'node_modules'))
      ? 'node_modules does not match the lock file'
      : 'first run';
    await step(
      `Installing packages (${first}; usually 10 to 60 s)`,
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

/** Builds if a source changed since the last build, or if that one did not check the types and this one must. */
async function build(args) {
  const dist = join(root, 'dist');
  const stamp = join(dist, '.built');
  const removed = removeStale(root);
  const sources = sourcesPrint();
  const [built, checked] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split('\n') : [];
  const isChecked = args.length === 0;
  if (removed === 0 && built === sources && (checked === 'checked' || !isChecked)) return;
  await step(
    existsSync(dist) ? 'Building what changed' : `Building (first run; usually ${command.takes})`,
    [process.execPath, ['scripts/build.mjs', ...args]],
    'the build failed',
  );
  writeFileSync(stamp, `${sources}\n${isChecked ? 'checked' : 'unchecked'}\n`);
}

/** Hashes the names, sizes and times of the sources, and of what a build installs. */
function sourcesPrint() {
  const hash = createHash('sha256').update(fingerprint());
  const files = SOURCES.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ).filter((path) => !/[\\/](?:node_modules|__pycache__)[\\/]/.test(path));
  for (const path of [...files.sort(), 'tsconfig.json', 'package.json']) {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function npmCommand(args) {
  // npm passes its own location to its scripts. That copy needs no shell, also on Windows.
  const npm = process.env.npm_execpath;
  if (npm !== undefined && /\.c?js$/.test(npm)) return [process.execPath, [npm, ...args]];
  return process.platform === 'win32' ? ['npm.cmd', args] : ['npm', args];
}

/** Runs a program, and says for how long. What it prints is shown if it fails. */
async function step(what, [command, args], failed) {
  const began = Date.now();
  const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`;
  const { stderr } = process;
  const say = (time) =>
    stderr.write(stderr.isTTY ? `\r\x1b[K${what} … ${time}` : `${`${what} … ${time}`.trim()}\n`);
  say(stderr.isTTY ? seconds() : '');
  const timer = setInterval(() => say(seconds()), stderr.isTTY ? 1000 : STILL_MS);
  let output = '';
  const code = await new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    child.on('error', ({ code: cause }) => resolve(cause));
    child.on('close', (status, signal) => resolve(status ?? signal));
  });
  clearInterval(timer);
  say(code === 0 ? `done in ${seconds()}` : `failed after ${seconds()}`);
  if (stderr.isTTY) stderr.write('\n');
  if (code !== 0) fail(`${output}\n${failed} (${[command, ...args].join(' ')} ended with ${code})`);
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
