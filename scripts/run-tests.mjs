// Runs the compiled tests: all, or the files that are named. The end of the output lists the tests that were left out because
// a program is missing. In CI such tests fail. With --cpu it also lists the files by the CPU that they took.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const args = process.argv.slice(2).filter((word) => word !== '--cpu');
const cpu = process.argv.includes('--cpu') ? join(root, '.build', 'test-cpu.tsv') : undefined;
const env = { ...process.env };

// Mocha adds the files of its configuration to those of the command line, so named files need the other options apart.
const { spec, ...options } = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8'));
const named = args.some((word) => word.endsWith('.test.js')) ? [] : spec;
const flags = Object.entries(options).flatMap(([name, value]) =>
  value === true ? [`--${name}`] : [value].flat().map((one) => `--${name}=${one}`),
);
if (cpu !== undefined) {
  mkdirSync(dirname(cpu), { recursive: true });
  rmSync(cpu, { force: true });
  env.MILLRACE_TEST_CPU = cpu;
  flags.push('--require', join(root, 'scripts', 'test-cpu.mjs'));
}
// Workers inherit these flags. Tests leave much garbage: with a large young generation little of it is copied, and one thread
// collects it for less CPU than several, as both cores run tests. Most code runs too seldom to be worth optimizing early, which
// takes an eighth of the CPU. Later versions of Node do not have that flag.
const v8 = [
  ...['--max-semi-space-size=64', '--min-semi-space-size=16', '--single-threaded-gc'],
  ...(process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : []),
];
const mocha = spawnSync(
  process.execPath,
  [...v8, require.resolve('mocha/bin/mocha.js'), '--no-config', ...flags, ...args, ...named],
  { cwd: root, env, stdio: 'inherit' },
);
process.exitCode = mocha.status === 0 ? 0 : 1;
if (cpu !== undefined) listCpu();

/** Prints seconds of CPU by file, the most first. */
function listCpu() {
  const files = readFileSync(cpu, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
    .map(([own, children, file]) => ({ own: Number(own), children: Number(children), file }));
  const print = (own, children, file) =>
    console.log([own + children, own, children].map((s) => s.toFixed(1).padStart(8)).join('') + `  ${file}`);
  console.log('\nseconds of CPU: in all, of the process of the tests, of processes that they started');
  files.sort((a, b) => b.own + b.children - a.own - a.children);
  for (const { own, children, file } of files) print(own, children, relative(root, file));
  const sum = (key) => files.reduce((total, one) => total + one[key], 0);
  print(sum('own'), sum('children'), `${files.length} files`);
}
