import { resolve } from 'node:path';
import { oneOf, row } from './setting-row.js';

/** Who may call the service (docs/access.md). */
export const ACCESS_SETTINGS = {
  keysFile: row({
    env: 'MILLRACE_KEYS',
    flag: 'keys-file',
    value: 'FILE',
    default: '',
    description:
      'File with the hashes of the API keys, which `millrace keys` writes. If it is set, requests need a key. The service reads the file again when it changes.',
    expected: 'a file',
    parse: (text, folder) => (text === '' ? '' : resolve(folder, text)),
  }),
  audit: row({
    env: 'MILLRACE_AUDIT',
    value: 'WHERE',
    default: 'auto',
    description:
      'Where each request that writes leaves an audit line: `auto` (the log, at the level `info`), `log` (the log, at every `LOG_LEVEL` except `silent`), `off`, or the path of a file, which has a `/` or a `.`.',
    expected: 'auto, log, off, or the path of a file',
    parse: (text, folder) =>
      text === 'auto' || text === 'log' || text === 'off'
        ? text
        : /[/.\\]/.test(text)
          ? resolve(folder, text)
          : undefined,
  }),
  auth: row({
    env: 'MILLRACE_AUTH',
    value: 'WHO',
    default: 'auto',
    description:
      'Whether requests need a key: `keys` (they do), `none` (they do not), or `auto` (they do if `MILLRACE_KEYS` is set; otherwise the service listens only on a loopback address).',
    expected: 'auto, keys or none',
    parse: oneOf('auto', 'keys', 'none'),
  }),
} as const;
