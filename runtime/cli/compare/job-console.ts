import { Readable, Writable } from 'node:stream';
import type { Console } from '../../ground/core/console.js';
import type { ComparisonRun } from '../../serve/compare/comparisons.js';

/** A console whose messages become notes, and whose progress becomes that of the comparison. */
export function consoleOf({
  signal,
  note,
  progress,
}: Pick<ComparisonRun, 'signal' | 'note' | 'progress'>): Console {
  const stderr = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        for (const line of chunk.toString().split('\n')) if (line.trim() !== '') note(line.trim());
        done();
      },
    }),
    { progress },
  );
  return {
    env: {},
    stdin: Readable.from([]),
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stderr,
    stopSignal: () => signal,
    checkStopped: () => signal.throwIfAborted(),
  };
}
