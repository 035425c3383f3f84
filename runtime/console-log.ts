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
 * Logs what libraries and plugins print with `console`, and Node's own warnings, so that every line of the process is one
 * of the log.
 * @returns ends it
 */
export function logConsole(logger: Logger): () => void {
  const printed = { ...console };
  for (const method of Object.keys(LEVELS) as (keyof typeof LEVELS)[])
    console[method] = (...parts: unknown[]) =>
      logger[LEVELS[method]]({ source: 'console' }, format(...parts));
  // Node prints a warning unless nobody but us listens.
  const listeners = process.listeners('warning');
  const onWarning = ({ name, message }: Error): void => logger.warn({ source: 'node', name }, message);
  process.removeAllListeners('warning').on('warning', onWarning);
  return () => {
    Object.assign(console, printed);
    process.off('warning', onWarning);
    for (const listener of listeners) process.on('warning', listener);
  };
}
