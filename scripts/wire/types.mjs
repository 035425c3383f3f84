import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withCases } from './cases.mjs';
import { BUILD, run, tool, TOOLS, TYPESCRIPT } from './run.mjs';
import { ROOT, WIRE_PROJECT } from './service.mjs';

const TSC = join(TYPESCRIPT, 'node_modules', 'typescript', 'bin', 'tsc');
const SOURCES = join(ROOT, 'test', 'wire', 'types');

/** Compiles a file with the file that a generator wrote. Each @ts-expect-error there has to be one. */
async function compile(folder, source, more = {}) {
  const options = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const compilerOptions = {
    ...options,
    target: 'es2022',
    lib: ['es2022', 'dom'],
    module: 'nodenext',
    noEmit: true,
    types: [],
    paths: { '@millrace/client': [join(TYPESCRIPT, 'src', 'index.ts')] },
    ...more,
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
  await compileOurs(folder, 'openapi-typescript.ts');
}

/** A client by openapi-typescript and openapi-fetch: every case compiles, is sent, and its answer has the type. */
export async function testTypeScript({ name, folder, document }) {
  const client = join(BUILD, `typescript-${name}`);
  rmSync(client, { recursive: true, force: true });
  mkdirSync(client, { recursive: true });
  symlinkSync(join(TOOLS, 'node_modules'), join(client, 'node_modules'));
  await run(tool('openapi-typescript'), [document, '-o', join(client, 'api.ts')]);
  return withCases({ name, folder }, async (url, path) => {
    const cases = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(join(client, 'cases.ts'), `${HEAD}${cases.map(caseText).join('')}`);
    await compile(client, 'cases.ts', { noEmit: false });
    await run(process.execPath, [join(client, 'cases.js')], { env: { SERVICE: url } });
    return `${cases.length} cases`;
  });
}

const HEAD = `import createClient from 'openapi-fetch';
import type { paths } from './api.js';
declare const process: { readonly env: { readonly SERVICE: string } };
const client = createClient<paths>({ baseUrl: process.env.SERVICE });
async function sent<T>(call: Promise<{ readonly data?: T; readonly response: Response }>): Promise<T | undefined> {
  const { data, response } = await call;
  if (!response.ok) throw new Error(\`\${response.url}: \${response.status}\`);
  return data;
}
`;

function caseText({ method, path, body, answer }, i) {
  const sent = body === undefined ? '' : `, { body: ${JSON.stringify(body)} }`;
  const call = `const case${i} = await sent(client.${method.toUpperCase()}(${JSON.stringify(path)}${sent}));\n`;
  return answer === undefined || answer === null
    ? call
    : `${call}export const answer${i}: typeof case${i} = ${JSON.stringify(answer)};\n`;
}

/** Compiles one of test/wire/types. */
function compileOurs(folder, source) {
  cpSync(join(SOURCES, source), join(folder, source));
  return compile(folder, source);
}

/** `millrace types` writes types that fit the client. */
export async function checkProjectTypes() {
  const folder = join(BUILD, 'types');
  mkdirSync(folder, { recursive: true });
  const bin = join(ROOT, 'dist', 'bundle', 'bin.js');
  const out = join(folder, 'millrace-types.ts');
  await run(process.execPath, [bin, 'types', '--write', '--out', out, '--project', WIRE_PROJECT]);
  await compileOurs(folder, 'project-types.ts');
}
