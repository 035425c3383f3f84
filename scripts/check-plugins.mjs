// Builds, tests and runs the packages of docs/examples outside the repository: with the packed tarball of Millrace, in an
// empty folder. Then it runs docs/plugin-packages.md as a user does. `node scripts/build.mjs` comes before it.
import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  installStep,
  outputPattern,
  runShellSteps,
  shellSteps,
} from '../dist/test/support/documented-shell.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const examples = join(root, 'docs', 'examples');
const folder = mkdtempSync(join(tmpdir(), 'millrace-plugins-'));
const packed = join(folder, 'packed');
const shop = join(folder, 'shop');
const began = Date.now();

/** Runs a program and returns its output. A failure ends the script with everything that it printed. */
function run(command, args, cwd, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env } });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} ${args.join(' ')} in ${cwd}:\n${output}`)),
    );
  });
}

const step = (text) => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(5)} s  ${text}`);
const expect = (output, part) => {
  if (!output.includes(part)) throw new Error(`expected ${JSON.stringify(part)} in:\n${output}`);
};
const tarball = (start) =>
  join(
    packed,
    readdirSync(packed).find((name) => name.startsWith(start)),
  );

try {
  mkdirSync(packed);
  cpSync(join(examples, 'project'), shop, { recursive: true });
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], root);
  step('packed Millrace');
  writeFileSync(join(shop, 'package.json'), '{ "private": true }\n');
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  await run('npm', ['install', ...quiet, tarball('millrace-'), 'typescript@~7.0.2'], shop);
  step('installed the packed Millrace and TypeScript 7 in an empty folder');

  // The packages compile with the compiler of the repository, and find Millrace in the folder above them.
  const packages = join(shop, 'packages');
  mkdirSync(packages);
  mkdirSync(join(shop, 'node_modules', '@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(shop, 'node_modules', name));
  // The declarations of both entries, and all that they import, without `skipLibCheck`.
  const entries = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports);
  const using = entries.map((entry, i) => `export * as entry${i} from 'millrace${entry.slice(1)}';\n`);
  writeFileSync(join(shop, 'entries.mts'), using.join(''));
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false'];
  const checked = [...strict, '--module', 'nodenext', '--target', 'es2023', '--noEmit', 'entries.mts'];
  await run(join(shop, 'node_modules', '.bin', 'tsc'), checked, shop);
  step(`TypeScript 7 accepts the declarations of ${entries.length} entries`);
  const millrace = join(shop, 'node_modules', '.bin', 'millrace');
  const names = ['cosine', 'remote-scorer', 'window'];
  for (const name of names)
    cpSync(join(examples, name), join(packages, name), {
      recursive: true,
      filter: (path) => !/[\\/](?:node_modules|dist)$/.test(path),
    });
  const all = names.map((name) => join(packages, name));
  // One process compiles all, so that it reads the declarations of Node and of Millrace once.
  await run(
    process.execPath,
    [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', ...all],
    packages,
  );
  step('compiled the packages');
  const tested = await run(
    process.execPath,
    ['--test', ...all.map((own) => join(own, 'dist', 'test'))],
    packages,
  );
  expect(tested, '# fail 0');
  step(`${/# tests (\d+)/.exec(tested)?.[1]} tests of the packages passed`);
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', packed, ...all], packages);

  const tarballs = names.map((name) => tarball(`example-millrace-${name}`));
  await run('npm', ['install', ...quiet, ...tarballs], shop);
  step('installed the packed packages');
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { rows } = JSON.parse(body);
    response.end(JSON.stringify({ scores: rows.map(([price]) => price) }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  const env = { SCORER_PORT: String(port), MILLRACE_MODEL_HOSTS: `127.0.0.1:${port}`, LOG_LEVEL: 'warn' };
  try {
    expect(await run(millrace, ['validate'], shop, env), 'ok: 1 pipeline');
    expect(await run(millrace, ['plugins'], shop, env), '@example/millrace-window');
    const answer = await run(millrace, ['rank', 'search', 'request.json'], shop, env);
    const order = [...answer.matchAll(/\bp[1-4]\b/g)].map(([id]) => id);
    if (order.slice(0, 4).join(' ') !== 'p1 p3 p2 p4')
      throw new Error(`another order than expected:\n${answer}`);
  } finally {
    server.close();
  }
  step('validated the project of the examples, listed its plugins and ranked: p1 p3 p2 p4');

  // The page begins with the project of docs/start.md.
  const [start, page] = ['start.md', 'plugin-packages.md'].map((name) =>
    readFileSync(join(root, 'docs', name), 'utf8'),
  );
  const [files, project] = shellSteps(start);
  const inShop = { ...project, commands: `${project.commands}cd ..\n` };
  const steps = [installStep(start), files, inShop, ...shellSteps(page)];
  const printed = await runShellSteps(steps, [], tarball('millrace-'));
  for (const [at, { heading, output }] of steps.entries())
    if (!outputPattern(output).test(printed[at])) throw new Error(`${heading} prints:\n${printed[at]}`);
  step('ran docs/plugin-packages.md with the packed Millrace');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
