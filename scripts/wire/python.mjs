import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withCases } from './cases.mjs';
import { BUILD, run } from './run.mjs';
import { ROOT } from './service.mjs';

const REQUIREMENTS = join(ROOT, 'test', 'wire', 'requirements.txt');

/** A client by openapi-python-client: it has every operation and sends every case; `trip` is a program by hand. */
export async function testPython({ name, folder, document }, trip) {
  const venv = join(BUILD, 'python');
  const bin = (name) => join(venv, 'bin', name);
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  const mark = join(venv, '.installed');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
    rmSync(venv, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', venv]);
    await run(bin('pip'), ['install', '-q', '--disable-pip-version-check', '-r', REQUIREMENTS]);
    writeFileSync(mark, wanted);
  }
  const client = `generated_${name}`;
  const target = join(BUILD, client);
  const args = ['generate', '--path', document, '--output-path', target, '--meta', 'none', '--overwrite'];
  const env = { PATH: `${join(venv, 'bin')}:${process.env.PATH}` };
  const told = await run(bin('openapi-python-client'), [...args, '--fail-on-warning'], { env });
  if (/warning/i.test(told)) throw new Error(told);
  const program = (file) => join(ROOT, 'test', 'wire', file);
  const pythonPath = { env: { PYTHONPATH: BUILD } };
  return withCases({ name, folder }, async (url, cases) => {
    if (trip !== undefined) await run(bin('python'), [program(trip), url], pythonPath);
    return run(bin('python'), [program('cases.py'), url, cases, client], pythonPath);
  });
}
