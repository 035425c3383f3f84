import { format } from 'node:util';
import type { Logger } from 'pino';

/** The log level for each method of `console`. */
const LEVELS = {
  log: 'info',
  info: 'info',
  debug: 'debug',
  trace: 'debug',
  warn: 'warn',
  error: 'error',
} as const;

/**
 * Logs the output that libraries, plugins and Node itself would print, so that every output line is a log line.
 * @returns a function that undoes this
 */
export function logPrints(logger: Logger): () => void {
  const printAgain = logConsole(logger);
  // Node prints a warning as long as its own listener is registered.
  const listeners = process.listeners('warning');
  const onWarning = ({ name, message }: Error): void => logger.warn({ source: 'node', name }, message);
  process.removeAllListeners('warning').on('warning', onWarning);
  return () => {
    printAgain();
    process.off('warning', onWarning);
    for (const listener of listeners) process.on('warning', listener);
  };
}

function logConsole(logger: Logger): () => void {
  const printed = { ...console };
  for (const method of Object.keys(LEVELS) as (keyof typeof LEVELS)[])
    console[method] = (...parts: unknown[]) =>
      logger[LEVELS[method]]({ source: 'console' }, format(...parts));
  return () => Object.assign(console, printed);
}
