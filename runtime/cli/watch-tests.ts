import { setTimeout as pause } from 'node:timers/promises';
import { listFiles, type Snapshot } from '../serve/app/project/snapshot.js';
import { TESTS_FOLDER } from './ranking-tests/files/load-tests.js';
import type { Settings } from '../project/settings/settings.js';
import type { CliContext } from './context.js';
import { reportError } from './report-error.js';

/** The time between two looks at the files, in milliseconds. */
const POLL_MS = 300;

/**
 * Runs the tests, and again whenever a file of the project has changed, until a signal stops the command. Failures and
 * mistakes are printed and do not end it.
 * @param run runs the tests once, and passes on the files that options name
 */
export async function watchTests(
  context: CliContext,
  { project }: Settings,
  run: (named: (files: readonly string[]) => void) => Promise<void>,
): Promise<void> {
  const signal = context.stopSignal();
  let named: readonly string[] = [];
  const look = (): Promise<Snapshot> => listFiles(project, named, [TESTS_FOLDER]);
  while (!signal.aborted) {
    let before = await look();
    try {
      await run((files) => (named = files));
    } catch (error) {
      reportError(error, context);
    }
    // The files that options name are known after the first run.
    before = new Map([...(await look()), ...before]);
    context.stderr.write('watching the project for changes; Ctrl-C stops\n');
    await changed(look, before, signal);
  }
}

/** Waits until files differ from `before` and are stable for one poll. */
async function changed(look: () => Promise<Snapshot>, before: Snapshot, signal: AbortSignal): Promise<void> {
  let last = before;
  while (!signal.aborted) {
    await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
    const now = await look();
    if (!isSame(now, before) && isSame(now, last)) return;
    last = now;
  }
}

function isSame(a: Snapshot, b: Snapshot): boolean {
  if (a.size !== b.size) return false;
  for (const [path, stamp] of a) if (b.get(path) !== stamp) return false;
  return true;
}
