import { oneOf, row, wholeNumber } from './setting-row.js';

/** When the project is read anew (runtime/project). */
export const RELOAD_SETTINGS = {
  reload: row({
    env: 'MILLRACE_RELOAD',
    value: 'WHEN',
    default: 'signal',
    description:
      'When the project is read anew, without a restart: `off`, at the `signal` SIGHUP, or `watch`: at SIGHUP and when a file of it changes.',
    expected: 'off, signal or watch',
    parse: oneOf('off', 'signal', 'watch'),
  }),
  reloadPollMs: row({
    env: 'MILLRACE_RELOAD_POLL_MS',
    value: 'MS',
    default: '1000',
    description:
      'How often a watched project is looked at, in milliseconds; a change is taken up once the files rest for as long.',
    expected: 'a number of milliseconds, 20 to 3600000',
    parse: wholeNumber(20, 3_600_000),
  }),
} as const;
