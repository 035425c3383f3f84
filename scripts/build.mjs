// Compiles to dist/, bundles to dist/bundle, and copies the files that the code reads: option schemas, YAML schemas, and the
// browser bundle of the API reference. With --bundle it does not compile: that takes seconds, and is all that users run.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  existsSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, bundlePages } from './bundle.mjs';
import { removeStale } from './remove-stale.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);

removeStale(root);
if (!process.argv.includes('--bundle')) {
  const tsc = spawnSync(
    process.execPath,
    [require.resolve('typescript/bin/tsc'), '-p', root, ...process.argv.slice(2)],
    { stdio: 'inherit' },
  );
  // tsc has already printed the errors.
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
}
await bundle(root);
// Compiled plugins and tests import the compiled `millrace/api`; others, by the package.json of the root, that of the bundle.
const { name: self, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const compiled = Object.entries(exports).map(([path, { types }]) => [
  path,
  types.replace(/^\.\/dist\//, './').replace(/\.d\.ts$/, '.js'),
]);
writeFileSync(
  join(root, 'dist', 'package.json'),
  JSON.stringify({ name: self, type: 'module', exports: Object.fromEntries(compiled) }),
);

for (const name of readdirSync(join(root, 'plugins'))) {
  for (const file of ['options.schema.json', 'source.schema.json', 'reader.schema.json']) {
    const schema = join(root, 'plugins', name, file);
    if (!existsSync(schema)) continue;
    mkdirSync(join(root, 'dist', 'plugins', name), { recursive: true });
    copyFileSync(schema, join(root, 'dist', 'plugins', name, file));
  }
}
cpSync(join(root, 'schemas'), join(root, 'dist', 'schemas'), {
  recursive: true,
  filter: (path) => !/schemas\/(entities|features)/.test(path.replaceAll('\\', '/')),
});
mkdirSync(join(root, 'dist', 'assets'), { recursive: true });
copyFileSync(
  join(dirname(require.resolve('redoc/package.json')), 'bundles', 'redoc.standalone.js'),
  join(root, 'dist', 'assets', 'redoc.standalone.js'),
);
// The Python code that `millrace train` runs. It is a part of the client's package.
const python = join(root, 'dist', 'assets', 'python', 'millrace');
const source = join(root, 'clients', 'python', 'src', 'millrace');
rmSync(python, { recursive: true, force: true });
mkdirSync(python, { recursive: true });
for (const name of readdirSync(source))
  if (name.endsWith('.py')) copyFileSync(join(source, name), join(python, name));

// The workbench: its scripts run in a browser. `npm run types` checks them.
const workbench = join(root, 'clients', 'workbench');
const pages = join(root, 'dist', 'assets', 'workbench');
rmSync(pages, { recursive: true, force: true });
mkdirSync(pages, { recursive: true });
for (const name of readdirSync(workbench))
  if (/\.(?:html|css)$/.test(name)) copyFileSync(join(workbench, name), join(pages, name));
await bundlePages(root, workbench, ['main', 'session', 'preview'], pages);
