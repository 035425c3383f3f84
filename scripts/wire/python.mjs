import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD, run } from './run.mjs';
import { ROOT, WIRE_PROJECT, withService } from './service.mjs';

const REQUIREMENTS = join(ROOT, 'test', 'wire', 'requirements.txt');

/** A client by openapi-python-client: it has every operation, and passes a round trip. */
export async function testPython(document) {
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
  const client = join(BUILD, 'generated_client');
  const args = ['generate', '--path', document, '--output-path', client, '--meta', 'none', '--overwrite'];
  const env = { PATH: `${join(venv, 'bin')}:${process.env.PATH}` };
  const told = await run(bin('openapi-python-client'), [...args, '--fail-on-warning'], { env });
  if (/warning/i.test(told)) throw new Error(told);
  const trip = join(ROOT, 'test', 'wire', 'round_trip.py');
  const pythonPath = { PYTHONPATH: BUILD };
  await withService(WIRE_PROJECT, async (url) => {
    await run(bin('python'), [trip, url], { env: pythonPath });
  });
}
