// Bundles the runtime, the shipped plugins and their packages into dist/bundle, which is what users run: a process loads a few
// dozen files instead of 1,300. Tests import the files that the compiler writes beside it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'esbuild';

/** By the name in dist/bundle: what users run, */
const PROCESSES = { bin: 'runtime/cli/bin.ts', main: 'runtime/main.ts' };
/** and what plugins and their tests import. */
const MODULES = { api: 'runtime/ground/sdk/index.ts', testing: 'runtime/cli/testing/index.ts' };
/** Packages with binaries, those of which a process may have one copy only, and large ones that few starts load. */
const EXTERNAL = [
  'classic-level',
  'fast-check',
  '@opentelemetry/api',
  '@orama/stemmers',
  'bowser',
  'cli-progress',
  'hyparquet',
  'hyparquet-compressors',
  'hyparquet-writer',
  'pino-pretty',
  'rate-limiter-flexible',
  'redoc-express',
];
/** A module of the repository as a process, a thread or a module of hooks. */
const PLACED = /new URL\(\s*'(\.[^']+)\.js',\s*import\.meta\.url,?\s*\)/g;
/** The one file that imports a shipped plugin by its address. */
const IMPORT_SHIPPED = 'import-shipped.ts';

/** @param root of the repository */
export async function bundle(root) {
  const out = join(root, 'dist', 'bundle');
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const names = entryNames(root);
  rmSync(out, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries([...names].map(([file, name]) => [codeOf(name), file])),
    outdir: out,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    chunkNames: 'chunk-[hash]',
    sourcemap: 'linked',
    sourcesContent: false,
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    external: [...EXTERNAL, ...Object.keys(peerDependencies)],
    alias: { 'millrace/api': join(root, MODULES.api) },
    // CommonJS packages require the modules of Node.
    banner: {
      js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
    },
    plugins: [{ name: 'millrace', setup: (one) => rewrite(one, root, names) }],
  });
  for (const file of readdirSync(out)) if (file.endsWith('.map')) keepLines(join(out, file));
  // Node reads the maps of modules that are loaded after this call.
  for (const name of Object.keys(PROCESSES))
    writeFileSync(
      join(out, `${name}.js`),
      `#!/usr/bin/env node\nprocess.setSourceMapsEnabled(true);\nawait import('./${codeOf(name)}.js');\n`,
      { mode: 0o755 },
    );
  writeFileSync(join(out, 'LICENSES.txt'), licences(root, Object.keys(metafile.inputs)));
}

/** Bundles the scripts of pages for browsers, one file each. */
export async function bundlePages(root, folder, names, outdir) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: names.map((name) => join(folder, `${name}.tsx`)),
    outdir,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    metafile: true,
    logLevel: 'warning',
  });
  writeFileSync(join(outdir, 'LICENSES.txt'), licences(root, Object.keys(metafile.inputs)));
}

const codeOf = (name) => (Object.hasOwn(PROCESSES, name) ? `${name}-code` : name);

/** The modules that something else than an import starts, each with its name in dist/bundle. */
function entryNames(root) {
  const entries = Object.entries({ ...PROCESSES, ...MODULES });
  const names = new Map(entries.map(([name, file]) => [join(root, file), name]));
  for (const folder of ['runtime', 'plugins'])
    for (const path of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      const file = join(root, folder, path);
      if (!file.endsWith('.ts')) continue;
      for (const [, placed] of readFileSync(file, 'utf8').matchAll(PLACED)) {
        const source = resolve(dirname(file), `${placed}.ts`);
        if (!names.has(source))
          names.set(source, relative(root, source).slice(0, -3).replaceAll(/[\\/]/g, '.'));
      }
    }
  return names;
}

/** A stack names lines of our own modules. A map of all columns would be five times as large. */
function keepLines(file) {
  const map = JSON.parse(readFileSync(file, 'utf8'));
  const isPackage = map.sources.map((source) => source.includes('/node_modules/'));
  const lines = decode(map.mappings).map(([first]) => {
    if (first === undefined) return [];
    return [isPackage[first[1]] ? [first[0]] : first];
  });
  writeFileSync(file, JSON.stringify({ ...map, mappings: encode(lines), names: [] }));
}

function rewrite(building, root, names) {
  const plugins = readdirSync(join(root, 'plugins'));
  building.onResolve({ filter: /^shipped-plugins$/ }, ({ path }) => ({ path, namespace: 'shipped' }));
  building.onLoad({ filter: /./, namespace: 'shipped' }, () => ({
    contents: plugins.map((name) => `export * as ${name} from './plugins/${name}/index.ts';`).join('\n'),
    resolveDir: root,
  }));
  building.onLoad({ filter: /[\\/](?:runtime|plugins)[\\/].*\.ts$/ }, ({ path }) => {
    if (basename(path) === IMPORT_SHIPPED)
      return {
        contents: "export const importShipped = async (name) => (await import('shipped-plugins'))[name];",
      };
    const text = readFileSync(path, 'utf8');
    if (!text.includes('import.meta.url')) return undefined;
    // Other files are found where the compiled module would be: in dist.
    const home = `../${relative(root, path).replaceAll('\\', '/').slice(0, -3)}.js`;
    return {
      loader: 'ts',
      contents: text
        .replaceAll(PLACED, (_, placed) => {
          const name = names.get(resolve(dirname(path), `${placed}.ts`));
          return `new URL('./${name}.js', import.meta.URL)`;
        })
        .replaceAll('import.meta.url', `new URL('${home}', import.meta.url).href`)
        .replaceAll('import.meta.URL', 'import.meta.url'),
    };
  });
}

/** The licences of the packages that the bundle contains. */
function licences(root, inputs) {
  const folders = inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      const file = readdirSync(join(root, folder)).find((one) => /^licen[cs]e/i.test(one));
      const text = file === undefined ? '' : `\n${readFileSync(join(root, folder, file), 'utf8')}`;
      return `${name} ${version} (${license})\n${text}`;
    })
    .join('\n----\n\n');
}
