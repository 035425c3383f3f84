// Compiles to dist/ and copies the files that the compiled code reads: option schemas, YAML schemas, and the browser
// bundle of the API reference.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
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
import { removeStale } from './remove-stale.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);

removeStale(root);
const tsc = spawnSync(
  process.execPath,
  [require.resolve('typescript/bin/tsc'), '-p', root, ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
// tsc has already printed the errors.
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
// `npx --no millrace` in a clone runs the file itself.
chmodSync(join(root, 'dist', 'runtime', 'cli', 'bin.js'), 0o755);

for (const name of readdirSync(join(root, 'plugins'))) {
  for (const file of ['options.schema.json', 'source.schema.json']) {
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

// The page /inspect: its scripts run in a browser. `npm run types` checks them.
const page = join(root, 'dist', 'assets', 'inspect');
rmSync(page, { recursive: true, force: true });
mkdirSync(page, { recursive: true });
const { transpileModule, ModuleKind, ScriptTarget } = require('typescript');
for (const name of readdirSync(join(root, 'inspect'))) {
  const file = join(root, 'inspect', name);
  if (/\.(?:html|css)$/.test(name)) copyFileSync(file, join(page, name));
  else if (name.endsWith('.ts')) {
    const compilerOptions = {
      module: ModuleKind.ES2022,
      target: ScriptTarget.ES2022,
      verbatimModuleSyntax: true,
    };
    const { outputText } = transpileModule(readFileSync(file, 'utf8'), { compilerOptions });
    writeFileSync(join(page, name.replace(/\.ts$/, '.js')), outputText);
  }
}
