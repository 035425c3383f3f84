import { parseDuration } from '../../ground/api/duration.js';
import { parseSize } from '../../ground/core/size.js';
import { resolveStored } from '../../ground/core/stored-files.js';
import { oneOf, row } from './setting-row.js';

/** What the default sink of the ledger keeps, and what waits for sinks (docs/ledger.md). */
export const LEDGER_SETTINGS = {
  acknowledge: row({
    env: 'MILLRACE_ACKNOWLEDGE',
    value: 'WHEN',
    default: 'received',
    description:
      'When feedback is answered: `received`, when the store has it, or `stored`, when also every sink that takes feedback has it (docs/feedback.md).',
    expected: 'received or stored',
    parse: oneOf('received', 'stored'),
  }),
  ledgerDir: row({
    env: 'MILLRACE_LEDGER_DIR',
    value: 'DIR',
    default: 'ledger',
    description:
      'Folder of the segments of the ledger. The default is in the data folder; a relative path of a variable starts at the working directory. `s3://bucket/prefix` is in object storage (docs/object-storage.md).',
    expected: 'a folder, or s3://bucket/prefix',
    parse: (text, folder) => resolveStored(folder, text),
  }),
  ledgerKeep: row({
    env: 'MILLRACE_LEDGER_KEEP',
    value: 'TIME',
    default: '30d',
    description:
      'How long segments of the ledger are kept, e.g. `90d`. A segment goes when its last record is older.',
    expected: 'a time of at least 1m, e.g. 30d',
    parse: (text) => {
      const time = parseDuration(text);
      return time !== undefined && time >= 60_000 ? time : undefined;
    },
  }),
  ledgerBytes: row({
    env: 'MILLRACE_LEDGER_BYTES',
    value: 'SIZE',
    default: '20GB',
    description: 'How large the folder of the ledger may become, e.g. `500MB`. The oldest segments go first.',
    expected: 'a size of at least 1MB, e.g. 20GB',
    parse: (text) => {
      const bytes = parseSize(text);
      return bytes !== undefined && bytes >= 2 ** 20 ? bytes : undefined;
    },
  }),
} as const;
