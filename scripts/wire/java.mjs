import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { withCases } from './cases.mjs';
import { generate } from './openapi-generator.mjs';
import { BUILD, run, write } from './run.mjs';
import { ROOT } from './service.mjs';

/** A client by openapi-generator, library `native`: it compiles and sends every case; `trip` is a program by hand. */
export async function testJava({ name, folder, document }, trip) {
  const client = await generate('java', name, document);
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
  const classes = join(client, 'classes');
  const path = ['-cp', `${needs}/*:${classes}`];
  const programs = ['Cases', ...(trip === undefined ? [] : [trip])];
  const texts = programs.map((program) => join(ROOT, 'test', 'wire', `${program}.java`));
  // A file of arguments: a command line has no room for the paths of a large client.
  const list = write(`java-${name}.txt`, [...sources, ...texts].join('\n'));
  await run('javac', ['-nowarn', '-proc:none', '-d', classes, ...path, `@${list}`]);
  return withCases({ name, folder }, async (url, cases) => {
    for (const program of programs.slice(1)) await run('java', [...path, program, url]);
    return run('java', [...path, 'Cases', url, cases]);
  });
}
