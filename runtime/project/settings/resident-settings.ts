import { NAME_PATTERN } from '../../ground/api/types.js';
import { row, wholeNumber } from './setting-row.js';

/** The settings of the cache in the process (runtime/request/resident). */
export const RESIDENT_SETTINGS = {
  resident: row({
    env: 'MILLRACE_RESIDENT',
    value: 'TYPES',
    default: 'all',
    description:
      'Entity types that are cached in the process: `all`, `off`, or names such as `product,brand`.',
    expected: 'all, off, or names of entity types separated by commas',
    list: true,
    parse: residentTypes,
  }),
  residentBytes: row({
    env: 'MILLRACE_RESIDENT_BYTES',
    value: 'BYTES',
    default: '268435456',
    description:
      'Maximum memory for cached entities, in bytes. Up to a quarter of it is for the words of their texts.',
    expected: 'a number of bytes, 0 to 9999999999',
    parse: wholeNumber(0, 9_999_999_999),
  }),
  residentLeaseMs: row({
    env: 'MILLRACE_RESIDENT_LEASE_MS',
    value: 'MS',
    default: '40',
    description:
      'Maximum age of the last heartbeat from Redis, in milliseconds. If it is older, cached entities are not used without a new heartbeat.',
    expected: 'a number of milliseconds, 5 to 60000',
    parse: wholeNumber(5, 60_000),
  }),
  counterLeaseMs: row({
    env: 'MILLRACE_COUNTER_LEASE_MS',
    value: 'MS',
    default: '1000',
    description:
      'How long the counters of cached entities are served without asking the store, in milliseconds. Events that other instances accept are visible after this time. 0 reads counters from the store for every request, as several workers do.',
    expected: 'a number of milliseconds, 0 to 60000',
    parse: wholeNumber(0, 60_000),
  }),
} as const;

/** Returns the types to cache; an empty set for `off`. */
function residentTypes(text: string): 'all' | ReadonlySet<string> | undefined {
  if (text === 'all') return text;
  const names = text === 'off' ? [] : text.split(',').map((name) => name.trim());
  return names.every((name) => NAME_PATTERN.test(name)) ? new Set(names) : undefined;
}
