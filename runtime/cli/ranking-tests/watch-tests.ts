import { setTimeout as pause } from 'node:timers/promises';
import { listFiles, type Snapshot } from '../../app/project/snapshot.js';
import type { Settings } from '../../settings/settings.js';
import type { CliContext } from '../context.js';
import { reportError } from '../report-error.js';

/** The time between two looks at the files, in milliseconds. */
const POLL_MS = 300;

/**
 * Runs the tests, and again whenever a file of the project has changed, until a signal stops the command. Failures and
 * mistakes are printed and do not end it.
 */
export async function watchTests(
  context: CliContext,
  { project }: Settings,
  run: () => Promise<void>,
): Promise<void> {
  const signal = context.stopSignal();
  while (!signal.aborted) {
    const before = await filesOf(project);
    try {
      await run();
    } catch (error) {
      reportError(error, context);
    }
    context.stderr.write('watching the project for changes; Ctrl-C stops\n');
    await changed(project, before, signal);
  }
}

/** Waits until files differ from `before` and are stable for one poll. */
async function changed(project: string, before: Snapshot, signal: AbortSignal): Promise<void> {
  let last = before;
  while (!signal.aborted) {
    await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
    const now = await filesOf(project);
    if (!isSame(now, before) && isSame(now, last)) return;
    last = now;
  }
}

function filesOf(project: string): Promise<Snapshot> {
  return listFiles(project, [], ['tests']);
}

function isSame(a: Snapshot, b: Snapshot): boolean {
  if (a.size !== b.size) return false;
  for (const [path, stamp] of a) if (b.get(path) !== stamp) return false;
  return true;
}
