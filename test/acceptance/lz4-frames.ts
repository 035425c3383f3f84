/**
 * Reads frames that Python's lz4 writes, with random contents and options:
 *
 *   node dist/test/acceptance/lz4-frames.js --python PATH [--count 300]
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { readLz4 } from '../../runtime/state/wyvern/lz4-frame.js';
import { repositoryPath } from '../support/repository.js';

const { values: flags } = parseArgs({
  options: { python: { type: 'string' }, count: { type: 'string', default: '300' } },
});
if (flags.python === undefined) throw new Error('--python PATH is missing');
const seed = String(Date.now() % 1e9);
const script = repositoryPath('test/acceptance/lz4_frames.py');
const text = execFileSync(flags.python, [script, '--count', flags.count, '--seed', seed], {
  encoding: 'utf8',
  maxBuffer: 2 ** 30,
});
const frames = text
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { frame: string; content: string });
const wrong = frames.filter(
  ({ frame, content }) => readLz4(Buffer.from(frame, 'base64'), 2 ** 26).toString('base64') !== content,
).length;
console.log(`${frames.length} frames of Python's lz4 (seed ${seed}): ${wrong} read wrongly`);
process.exitCode = wrong === 0 && frames.length === Number(flags.count) ? 0 : 1;
