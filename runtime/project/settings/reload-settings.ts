import { isObjectPath } from '../../ground/core/stored-files.js';
import { oneOf, row, wholeNumber } from './setting-row.js';

/** When the project is reloaded (runtime/project). */
export const RELOAD_SETTINGS = {
  reload: row({
    env: 'MILLRACE_RELOAD',
    value: 'WHEN',
    default: 'signal',
    description:
      'When the project is reloaded without a restart: `off` (never), `signal` (on SIGHUP), or `watch` (on SIGHUP and when one of its files changes).',
    expected: 'off, signal or watch',
    parse: oneOf('off', 'signal', 'watch'),
  }),
  reloadPollMs: row({
    env: 'MILLRACE_RELOAD_POLL_MS',
    value: 'MS',
    default: '1000',
    description:
      'How often the keys file, the lists of curation and a watched project are polled, in milliseconds. A change of the project is loaded once its files are stable for this long.',
    expected: 'a number of milliseconds, 20 to 3600000',
    parse: wholeNumber(20, 3_600_000),
  }),
  reloadDiff: row({
    env: 'MILLRACE_RELOAD_DIFF',
    flag: 'diff',
    value: 'N',
    default: '0',
    description:
      'How many of the last logged requests are ranked by the old and the new project before a reload is taken, to log how they differ; 0 compares nothing.',
    expected: 'a number of requests, 0 to 100000',
    parse: wholeNumber(0, 100_000),
  }),
  reloadRequire: row({
    env: 'MILLRACE_RELOAD_REQUIRE',
    value: 'CONDITION',
    default: '',
    description:
      'What must hold for a new project over the last requests, or it is refused (docs/rollback.md): e.g. `overlap@10 >= 0.5 and failed == 0`.',
    expected: 'conditions such as overlap@10 >= 0.5 and failed == 0',
    parse: (text) => text,
  }),
  reloadAgreementMs: row({
    env: 'MILLRACE_RELOAD_AGREEMENT_MS',
    value: 'MS',
    default: '3600000',
    description:
      'How long a new model is compared with the one before after a reload, in milliseconds (docs/rollback.md). The one before stays in memory for as long; 0 compares nothing.',
    expected: 'a number of milliseconds, 0 to 86400000',
    parse: wholeNumber(0, 86_400_000),
  }),
  releases: row({
    env: 'MILLRACE_RELEASES',
    value: 'PATH',
    default: '',
    description:
      'Where the files of projects go that are too large for the store, `s3://bucket/prefix` (docs/rollback.md). At most 256 MB each, packed.',
    expected: 's3://bucket/prefix',
    parse: (text) => (text === '' || isObjectPath(text) ? text : undefined),
  }),
  releaseBytes: row({
    env: 'MILLRACE_RELEASE_BYTES',
    value: 'BYTES',
    default: '8388608',
    description:
      'The most bytes that the files of a project may take, packed, to be kept in the store for `millrace rollback`. The last three projects are kept; 0 keeps none there.',
    expected: 'a number of bytes, 0 to 268435456',
    parse: wholeNumber(0, 268_435_456),
  }),
} as const;
