import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import type { ProjectFileChanges } from '../project/project-file-changes.js';
import type { Settings } from '../../../project/settings/settings.js';
import type { ProcessGuard } from './process-guard.js';

/** The waiting times before a service is closed. */
export interface Closing {
  /** How long `/readyz` answers 503 before the service stops accepting connections, milliseconds. */
  readonly lameDuckMs: number;
  /** How long a connection must be quiet before it is closed without an answer, milliseconds. */
  readonly idleMs: number;
}

/** For services without other clients: tests, and commands that end by themselves. */
export const AT_ONCE: Closing = { lameDuckMs: 0, idleMs: 0 };

/**
 * A connection that was quiet for this long is not in use, in milliseconds. Load balancers reuse a connection much
 * sooner, and each earlier request is answered with `Connection: close`.
 */
export const IDLE_MS = 5000;
/** Shorter, because a person waits at the terminal. */
const TERMINAL_IDLE_MS = 300;
/** The time limit for closing the store and the components, in addition to the drain. */
const CLOSE_MS = 5000;

/** A deployment sends SIGTERM. A person sends any other signal (Ctrl-C). */
function closingFor(signal: NodeJS.Signals | undefined, { lameDuckMs }: Settings): Closing {
  return signal === 'SIGTERM' ? { lameDuckMs, idleMs: IDLE_MS } : { lameDuckMs: 0, idleMs: TERMINAL_IDLE_MS };
}

/** On a terminal, SIGHUP means that the terminal was closed, and it ends the service as in other programs. */
export function reloadsOnSighup({ reload }: Settings): boolean {
  return reload !== 'off' && !process.stdout.isTTY;
}

/** At SIGHUP, reloads the project, and says if millrace.yaml has changed. */
export function reloadOnSighup(fileChanges: ProjectFileChanges, reload: () => Promise<unknown>): void {
  process.on('SIGHUP', () => {
    void fileChanges.tell();
    void reload();
  });
}

/** The time limit for closing before the process exits with 1, in milliseconds. */
export function longestClose({ lameDuckMs, drainMs }: Settings): number {
  return lameDuckMs + drainMs + CLOSE_MS;
}

/**
 * Closes the service and exits after a stop signal (SIGTERM, SIGINT) or an uncaught error.
 * A second signal or error exits at once.
 */
export function endOnSignal(
  settings: Settings,
  logger: Logger,
  guard: ProcessGuard,
  close: (closing: Closing) => Promise<void>,
): void {
  const ending = closeWithGrace(
    {
      delay: longestClose(settings),
      logger: false,
      skip: [
        'beforeExit',
        'uncaughtException',
        'unhandledRejection',
        ...(reloadsOnSighup(settings) ? (['SIGHUP'] as const) : []),
      ],
    },
    async ({ signal }) => {
      guard.isEnding = true;
      const closing = closingFor(signal, settings);
      if (signal !== undefined) logger.info({ signal, lame_duck_ms: closing.lameDuckMs }, 'stopping');
      await close(closing);
      if (guard.hasFailed) process.exit(1);
    },
  );
  guard.onFailure(() => ending.close());
}
