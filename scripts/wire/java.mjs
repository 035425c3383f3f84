import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD, run } from './run.mjs';
import { ROOT, WIRE_PROJECT, withService } from './service.mjs';

const GENERATOR = 'org.openapitools:openapi-generator-cli:7.25.0';
// Version 7.14 writes models that lose their members (`extends HashMap`). docs/clients.md has the same options.
const OPTIONS = [
  ...['-g', 'java', '--library', 'native'],
  ...['--type-mappings', 'integer=Long'],
  '--additional-properties',
  'openApiNullable=false,dateLibrary=java8,hideGenerationTimestamp=true',
  '--global-property',
  'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false',
];

/** A client by openapi-generator, library `native`: it compiles, and passes a round trip. */
export async function testJava(document) {
  const jars = join(BUILD, 'jars');
  const cli = join(jars, 'openapi-generator-cli.jar');
  if (!existsSync(cli)) {
    await run('mvn', [
      '-q',
      'dependency:copy',
      `-Dartifact=${GENERATOR}`,
      `-DoutputDirectory=${jars}`,
      '-Dmdep.stripVersion=true',
    ]);
  }
  const client = join(BUILD, 'java');
  rmSync(client, { recursive: true, force: true });
  await run('java', ['-jar', cli, 'generate', '-i', document, '-o', client, ...OPTIONS]);
  const needs = join(BUILD, 'java-needs');
  if (!existsSync(needs)) {
    await run(
      'mvn',
      ['-q', 'dependency:copy-dependencies', `-DoutputDirectory=${needs}`, '-DincludeScope=compile'],
      {
        cwd: client,
      },
    );
  }
  const sources = readdirSync(join(client, 'src', 'main', 'java'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.java'))
    .map((path) => join(client, 'src', 'main', 'java', path));
  const classes = join(BUILD, 'java-classes');
  rmSync(classes, { recursive: true, force: true });
  const path = ['-cp', `${needs}/*:${classes}`];
  const trip = join(ROOT, 'test', 'wire', 'RoundTrip.java');
  await run('javac', ['-nowarn', '-proc:none', '-d', classes, ...path, ...sources, trip]);
  await withService(WIRE_PROJECT, (url) => run('java', [...path, 'RoundTrip', url]));
}
