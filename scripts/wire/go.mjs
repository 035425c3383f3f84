import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { withCases } from './cases.mjs';
import { generate } from './openapi-generator.mjs';
import { BUILD, run } from './run.mjs';
import { ROOT } from './service.mjs';

/** The module of the generated client, which test/wire/cases.go imports. */
const MODULE = ['--git-host', 'example.com', '--git-user-id', 'millrace', '--git-repo-id', 'client'];

/** A client in Go by openapi-generator: it compiles and sends every case. */
export async function testGo({ name, folder, document }) {
  const client = await generate('go', name, document, MODULE);
  cpSync(join(ROOT, 'test', 'wire', 'cases.go'), join(client, 'cases', 'main.go'), { recursive: true });
  const program = join(BUILD, `go-${name}`, 'send-cases');
  await run('go', ['mod', 'tidy'], { cwd: client });
  await run('go', ['build', '-o', program, './cases'], { cwd: client });
  return withCases({ name, folder }, (url, cases) => run(program, [url, cases]));
}
