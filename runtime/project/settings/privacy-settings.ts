import { LONGEST_WINDOW } from '../../ground/api/interactions.js';
import { parseDuration } from '../../ground/api/duration.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { IdHasher } from '../../ground/core/id-hasher.js';
import { row } from './setting-row.js';

/** Least characters of the salt, so that it cannot be guessed. */
const LEAST_SALT = 16;

/** What the service keeps about people, and what it shows of it (docs/privacy.md). */
export const PRIVACY_SETTINGS = {
  hashIds: row<ReadonlySet<string>>({
    env: 'MILLRACE_HASH_IDS',
    value: 'TYPES',
    default: '',
    description:
      'Entity types whose ids are replaced by a hash in events, e.g. `user,query`. It needs `MILLRACE_ID_SALT`. By default none.',
    expected: 'names of entity types separated by commas, without request',
    list: true,
    shared: true,
    parse: (text) => {
      const names = text === '' ? [] : text.split(',').map((name) => name.trim());
      const areNames = names.every((name) => NAME_PATTERN.test(name) && name !== 'request');
      return areNames ? new Set(names) : undefined;
    },
  }),
  idSalt: row({
    env: 'MILLRACE_ID_SALT',
    value: 'TEXT',
    default: '',
    description: 'Secret for the hashes of `MILLRACE_HASH_IDS`. A new salt gives every id a new hash.',
    expected: `a text of at least ${LEAST_SALT} characters`,
    secret: true,
    shared: true,
    parse: (text) => (text === '' || text.length >= LEAST_SALT ? text : undefined),
  }),
  historyRetention: row({
    env: 'MILLRACE_HISTORY_RETENTION',
    value: 'TIME',
    default: '366d',
    description:
      'How long feedback events are kept, e.g. `90d`. Steps do not count older events, even if their window is longer. The default is the longest window of a step.',
    expected: 'a time from 1m to 366d, e.g. 90d',
    shared: true,
    parse: (text) => {
      const time = parseDuration(text);
      return time !== undefined && time >= 60_000 && time <= LONGEST_WINDOW ? time : undefined;
    },
  }),
} as const;

export function idHasherOf(values: {
  readonly hashIds: ReadonlySet<string>;
  readonly idSalt: string;
}): IdHasher {
  return new IdHasher(values.idSalt, values.hashIds);
}
