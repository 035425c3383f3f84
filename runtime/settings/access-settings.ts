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
