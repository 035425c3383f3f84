import { row } from './setting-row.js';

/** Least characters of the salt, so that it cannot be guessed. */
const LEAST_SALT = 16;

/** What the rule `explore` draws with (docs/experiments/exploration.md). */
export const EXPLORE_SETTINGS = {
  exploreSalt: row({
    env: 'MILLRACE_EXPLORE_SALT',
    value: 'TEXT',
    default: '',
    description:
      'Secret for the draws of pipelines with `explore`. A new salt changes the order of the pages of requests that are under way.',
    expected: `a text of at least ${LEAST_SALT} characters`,
    secret: true,
    shared: true,
    parse: (text) => (text === '' || text.length >= LEAST_SALT ? text : undefined),
  }),
} as const;
