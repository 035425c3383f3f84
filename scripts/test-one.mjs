// `npm run test:one -- test/unit/language/frame/frame.test.ts [-g TITLE]` runs one test file in about a second. It compiles
// only the files that changed since the last build, and does not check types: `npm run types` does.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const [file, ...rest] = process.argv.slice(2);
if (file === undefined || !file.endsWith('.test.ts') || !existsSync(resolve(file))) {
  console.error('usage: npm run test:one -- test/unit/language/frame/frame.test.ts [-g TITLE]');
  process.exit(2);
}

if (!existsSync(join(root, 'dist', '.tsbuildinfo'))) build();
compileChanged();
const output = join(root, 'dist', relative(root, resolve(file)).replace(/\.ts$/, '.js'));
const mocha = [require.resolve('mocha/bin/mocha.js'), '--no-config', '--timeout', '60000', output, ...rest];
process.exitCode = spawnSync(process.execPath, mocha, { cwd: root, stdio: 'inherit' }).status ?? 1;

function build() {
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function compileChanged() {
  const changed = ['runtime', 'plugins', 'test', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
      .map((path) => join(folder, path))
      .filter(isNewer),
  );
  if (changed.length === 0) return;
  const ts = require('typescript');
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  // Files are compiled one by one, so the compiler does not see that package.json declares them as modules.
  const settings = { ...config.compilerOptions, module: 'esnext', moduleResolution: 'bundler' };
  const { options } = ts.convertCompilerOptionsFromJson(settings, root);
  for (const path of changed) {
    const source = readFileSync(join(root, path), 'utf8');
    const compiled = ts.transpileModule(source, { compilerOptions: options, fileName: join(root, path) });
    const target = outputOf(path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, compiled.outputText);
    writeFileSync(`${target}.map`, compiled.sourceMapText ?? '');
  }
}

function isNewer(path) {
  const target = outputOf(path);
  return !existsSync(target) || statSync(join(root, path)).mtimeMs > statSync(target).mtimeMs;
}

function outputOf(path) {
  return join(root, 'dist', path.replace(/\.ts$/, '.js'));
}
