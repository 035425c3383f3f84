import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD, run, tool, TYPESCRIPT } from './run.mjs';
import { ROOT, WIRE_PROJECT } from './service.mjs';

const TSC = join(TYPESCRIPT, 'node_modules', 'typescript', 'bin', 'tsc');
const SOURCES = join(ROOT, 'test', 'wire', 'types');

/** Compiles one of test/wire/types with the file that a generator wrote. Each @ts-expect-error there has to be one. */
async function compile(folder, source) {
  cpSync(join(SOURCES, source), join(folder, source));
  const options = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const compilerOptions = {
    ...options,
    target: 'es2022',
    lib: ['es2022', 'dom'],
    module: 'nodenext',
    noEmit: true,
    types: [],
    paths: { '@millrace/client': [join(TYPESCRIPT, 'src', 'index.ts')] },
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [source] }));
  await run(process.execPath, [TSC, '-p', folder]);
}

/** openapi-typescript with its defaults accepts the minimal request, typed events and extra attributes. */
export async function checkGeneratedTypes(document) {
  const folder = join(BUILD, 'openapi-typescript');
  mkdirSync(folder, { recursive: true });
  await run(tool('openapi-typescript'), [document, '-o', join(folder, 'api.ts')]);
  await compile(folder, 'openapi-typescript.ts');
}

/** `millrace types` writes types that fit the client. */
export async function checkProjectTypes() {
  const folder = join(BUILD, 'types');
  mkdirSync(folder, { recursive: true });
  const bin = join(ROOT, 'dist', 'bundle', 'bin.js');
  const out = join(folder, 'millrace-types.ts');
  await run(process.execPath, [bin, 'types', '--write', '--out', out, '--project', WIRE_PROJECT]);
  await compile(folder, 'project-types.ts');
}
