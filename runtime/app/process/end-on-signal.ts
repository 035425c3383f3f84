import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import type { Settings } from '../../settings/settings.js';
import type { ProcessGuard } from './process-guard.js';

/** How a service is closed. */
export interface Closing {
  /** How long `/readyz` answers 503 before the service stops accepting connections, milliseconds. */
  readonly lameDuckMs: number;
  /** How long a connection must be quiet before it is closed without an answer, milliseconds. */
  readonly idleMs: number;
}

/** Nobody else sends requests: tests, and commands that end by themselves. */
export const AT_ONCE: Closing = { lameDuckMs: 0, idleMs: 0 };

/**
 * A connection that was quiet for so long is not in use. Balancers reuse a connection much sooner, and each request that
 * comes before is answered with `Connection: close`.
 */
export const IDLE_MS = 5000;
/** A person waits at the terminal. */
const TERMINAL_IDLE_MS = 300;
/** What closing the store and the components may take beyond the drain. */
const CLOSE_MS = 5000;

/** Behind SIGTERM there is a deployment, behind any other signal (Ctrl-C) a person. */
function closingFor(signal: NodeJS.Signals | undefined, { lameDuckMs }: Settings): Closing {
  return signal === 'SIGTERM' ? { lameDuckMs, idleMs: IDLE_MS } : { lameDuckMs: 0, idleMs: TERMINAL_IDLE_MS };
}

/** On a terminal, SIGHUP says that the terminal was closed, and ends the service as in other programs. */
export function reloadsOnSighup({ reload }: Settings): boolean {
  return reload !== 'off' && !process.stdout.isTTY;
}

/** The longest that closing may take before the process exits with 1, milliseconds. */
export function longestClose({ lameDuckMs, drainMs }: Settings): number {
  return lameDuckMs + drainMs + CLOSE_MS;
}

/**
 * Closes the service and exits when the process is told to stop (SIGTERM, SIGINT), or after an error that nothing caught.
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
      const closing = closingFor(signal, settings);
      if (signal !== undefined) logger.info({ signal, lame_duck_ms: closing.lameDuckMs }, 'stopping');
      await close(closing);
      if (guard.hasFailed) process.exit(1);
    },
  );
  guard.onFailure(() => ending.close());
}
