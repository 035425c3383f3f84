import { createRequire } from 'node:module';
import type * as pretty from 'pino-pretty';
import { pino, type Logger } from 'pino';
import { MillraceError } from '../../../ground/api/errors.js';
import { describeError } from '../../../ground/core/describe-error.js';
import type { Settings } from '../../../project/settings/settings.js';

const require = createRequire(import.meta.url);

/** Bytes of audit lines that wait while the disk is full. */
const MAX_WAITING = 1e6;

/** Opens the log of the process on stdout: lines for people at a terminal, JSON elsewhere, unless a setting says otherwise. */
export function openLog({ logLevel, logFormat }: Pick<Settings, 'logLevel' | 'logFormat'>): Logger {
  const isText = logFormat === 'text' || (logFormat === 'auto' && process.stdout.isTTY);
  if (!isText || logLevel === 'silent') return pino({ level: logLevel });
  // The printer takes a tenth of a second to load, and production needs none.
  const { default: print } = require('pino-pretty') as typeof pretty;
  const stream = print({
    colorize: process.stdout.isTTY && process.env.NO_COLOR === undefined,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    singleLine: true,
    destination: 1,
    sync: true,
  });
  return pino({ level: logLevel }, stream);
}

/**
 * Opens where audit lines go (docs/edge.md): the log at its level, the log at every level except `silent`, or a file.
 * @returns undefined if there are none
 * @throws MillraceError invalid_setting if the file cannot be opened
 */
export function openAudit({ audit }: Pick<Settings, 'audit'>, logger: Logger): Logger | undefined {
  if (audit === 'off') return undefined;
  const fields = { audit: true };
  if (audit === 'auto') return logger.child(fields);
  if (audit === 'log') return logger.child(fields, logger.level === 'silent' ? {} : { level: 'info' });
  try {
    const file = pino.destination({
      dest: audit,
      append: true,
      mkdir: true,
      sync: true,
      maxLength: MAX_WAITING,
    });
    // A full disk must not stop the service, and the log says what happens.
    file.on('error', (error) =>
      logger.error({ error: describeError(error) }, 'audit lines cannot be written; they wait'),
    );
    file.on('drop', () => logger.error('an audit line was lost'));
    return pino({ level: 'info' }, file).child(fields);
  } catch (error) {
    throw new MillraceError('invalid_setting', `MILLRACE_AUDIT is ${audit}: ${(error as Error).message}`);
  }
}
