// Tests what is on the wire, against the built service: the OpenAPI document by linters and by generators of clients, and
// clients/typescript. Generated clients send every example of the document, for the wire project, the shipped one and one of
// odd shapes. With --nightly also clients in Python, Java and Go, and whether the document breaks clients of before. `--baseline` writes the document that this is compared with.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkBreaking, BASELINE } from './wire/breaking.mjs';
import { testGo } from './wire/go.mjs';
import { testJava } from './wire/java.mjs';
import { testPython } from './wire/python.mjs';
import { gzipSync } from 'node:zlib';
import { install, run, tool, TOOLS, TYPESCRIPT, write } from './wire/run.mjs';
import { documentOf, ROOT, WIRE_PROJECT } from './wire/service.mjs';
import { writeOddProject } from './wire/odd-project.mjs';
import { checkGeneratedTypes, checkProjectTypes, testTypeScript } from './wire/types.mjs';

const flags = process.argv.slice(2);
const unknown = flags.filter((flag) => flag !== '--nightly' && flag !== '--baseline');
if (unknown.length > 0) {
  console.error('usage: npm run test:wire -- [--nightly] [--baseline]');
  process.exit(2);
}
if (!existsSync(join(ROOT, 'dist', 'bundle', 'bin.js'))) {
  console.error('build first: npm run build');
  process.exit(1);
}

let failed = false;
/** Runs one check. The others still run if it fails. */
async function step(name, check) {
  const began = performance.now();
  try {
    const told = await check();
    console.log(
      `ok      ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)${told ? `: ${told}` : ''}`,
    );
  } catch (error) {
    failed = true;
    console.error(`FAILED  ${name}\n${error instanceof Error ? error.message : String(error)}`);
  }
}

async function lint(document) {
  await Promise.all([redocly(document), spectral(document)]);
}

async function redocly(document) {
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const config = join(TOOLS, 'redocly.yaml');
  const args = ['lint', document, '--config', config, '--format', 'json'];
  const found = await run(tool('redocly'), args, { env });
  const totals = /"errors": (\d+),\s+"warnings": (\d+)/.exec(found);
  if (totals?.[1] !== '0' || totals[2] !== '0') throw new Error(found);
}

async function spectral(document) {
  const ruleset = join(TOOLS, 'spectral.yaml');
  await run(tool('spectral'), ['lint', '--ruleset', ruleset, '--fail-severity', 'hint', document]);
}

/** What a page loads: the modules of the package, compressed. */
function sizeOf() {
  const folder = join(TYPESCRIPT, 'dist', 'src');
  const modules = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const text = modules.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
  return `${(gzipSync(text).length / 1000).toFixed(1)} kB, compressed`;
}

if (flags.includes('--baseline')) {
  writeFileSync(BASELINE, `${JSON.stringify(await documentOf(WIRE_PROJECT), null, 2)}\n`);
  console.log(`wrote ${BASELINE.slice(ROOT.length + 1)}`);
  process.exit(0);
}

await step('packages of the tools and of clients/typescript', async () => {
  await install(TOOLS);
  await install(TYPESCRIPT);
});
const folders = { shop: ROOT, wire: WIRE_PROJECT, odd: writeOddProject() };
const documents = { keys: await documentOf(WIRE_PROJECT, { keys: true }) };
for (const [name, folder] of Object.entries(folders)) documents[name] = await documentOf(folder);
const paths = Object.fromEntries(
  Object.entries(documents).map(([name, document]) => [
    name,
    write(`${name}.json`, JSON.stringify(document, null, 2)),
  ]),
);
await step('redocly and spectral find nothing', async () => {
  for (const name of ['shop', 'keys']) await lint(paths[name]);
  // Spectral reads members of examples as keywords where they have such names: default, else.
  await redocly(paths.odd);
});
await step('openapi-typescript', () => checkGeneratedTypes(paths.wire));
await step('millrace types', () => checkProjectTypes());
await step('clients/typescript', async () => {
  await run('npm', ['test'], { cwd: TYPESCRIPT });
  return sizeOf();
});
const projects = Object.entries(folders).map(([name, folder]) => ({ name, folder, document: paths[name] }));
const only = (name, program) => (name === 'wire' ? program : undefined);
for (const project of projects.filter(({ name }) => flags.includes('--nightly') || name === 'odd'))
  await step(`openapi-typescript and openapi-fetch: ${project.name}`, () => testTypeScript(project));
if (flags.includes('--nightly')) {
  for (const project of projects) {
    const { name } = project;
    await step(`openapi-python-client: ${name}`, () => testPython(project, only(name, 'round_trip.py')));
    await step(`openapi-generator, Java: ${name}`, () => testJava(project, only(name, 'RoundTrip')));
    await step(`openapi-generator, Go: ${name}`, () => testGo(project));
  }
  await step('oasdiff', () => checkBreaking(paths.wire));
}
process.exitCode = failed ? 1 : 0;
