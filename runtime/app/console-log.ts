import { format } from 'node:util';
import type { Logger } from 'pino';

/** Which level of the log a method of `console` writes at. */
const LEVELS = {
  log: 'info',
  info: 'info',
  debug: 'debug',
  trace: 'debug',
  warn: 'warn',
  error: 'error',
} as const;

/**
 * Logs what libraries and plugins print with `console`.
 * @returns ends it
 */
export function logConsole(logger: Logger): () => void {
  const printed = { ...console };
  for (const method of Object.keys(LEVELS) as (keyof typeof LEVELS)[])
    console[method] = (...parts: unknown[]) =>
      logger[LEVELS[method]]({ source: 'console' }, format(...parts));
  return () => Object.assign(console, printed);
}
