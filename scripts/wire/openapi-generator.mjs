import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD, run } from './run.mjs';
import { ROOT } from './service.mjs';

// Version 7.14 writes models that lose their members (`extends HashMap`).
const GENERATOR = 'org.openapitools:openapi-generator-cli:7.25.0';
const PAGE = readFileSync(join(ROOT, 'docs', 'clients.md'), 'utf8').replaceAll(/\\\n\s*/g, '');
const LESS = ['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'];

/**
 * Generates a client with the command of docs/clients.md for a language.
 * @param more words after those of the command
 * @returns the folder of the client
 */
export async function generate(language, name, document, more = []) {
  const jars = join(BUILD, 'jars');
  const cli = join(jars, 'openapi-generator-cli.jar');
  if (!existsSync(cli)) {
    const copy = [`-Dartifact=${GENERATOR}`, `-DoutputDirectory=${jars}`, '-Dmdep.stripVersion=true'];
    await run('mvn', ['-q', 'dependency:copy', ...copy]);
  }
  const command = new RegExp(
    `^openapi-generator-cli generate -i openapi\\.json -o client (-g ${language} .+)$`,
    'm',
  );
  const options = command.exec(PAGE)?.[1];
  if (options === undefined) throw new Error(`docs/clients.md has no command for ${language}`);
  const client = join(BUILD, `${language}-${name}`);
  rmSync(client, { recursive: true, force: true });
  const words = ['-i', document, '-o', client, ...options.split(' '), ...more, ...LESS];
  await run('java', ['-jar', cli, 'generate', ...words]);
  return client;
}
