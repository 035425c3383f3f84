// Runs the compiled tests: all, or the files that are named. The end of the output lists the tests that were left out because
// a program is missing. In CI such tests fail.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const args = process.argv.slice(2);

// Mocha adds the files of its configuration to those of the command line, so named files need the other options apart.
const { spec, ...options } = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8'));
const named = args.some((word) => word.endsWith('.test.js')) ? [] : spec;
const flags = Object.entries(options).flatMap(([name, value]) =>
  value === true ? [`--${name}`] : [value].flat().map((one) => `--${name}=${one}`),
);
const mocha = spawnSync(
  process.execPath,
  [require.resolve('mocha/bin/mocha.js'), '--no-config', ...flags, ...args, ...named],
  { cwd: root, stdio: 'inherit' },
);
process.exitCode = mocha.status === 0 ? 0 : 1;
