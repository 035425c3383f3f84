import { setTimeout as delay } from 'node:timers/promises';
import type { RunningSource } from '../../serve/sources/running-source.js';

const REPORT_MS = 10_000;

interface ReportLog {
  info(fields: object, message: string): void;
}

type Reported = Pick<RunningSource, 'name' | 'counts' | 'backlog' | 'stop'>;

/** Logs what sources have stored, every ten seconds. Resolves when the signal aborts and all have settled what they read. */
export async function reportUntilStopped(
  sources: () => readonly Reported[],
  log: ReportLog,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await delay(REPORT_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    for (const source of sources())
      log.info({ source: source.name, ...source.counts(), ...source.backlog }, 'consumed');
  }
  const running = sources();
  await Promise.all(running.map((source) => source.stop()));
  for (const source of running) log.info({ source: source.name, ...source.counts() }, 'stopped');
}
