import { bool, row, wholeNumber } from './setting-row.js';

/** How the service runs as processes, and how they shut down (runtime/serve/app). */
export const PROCESS_SETTINGS = {
  workers: row({
    env: 'MILLRACE_WORKERS',
    flag: 'workers',
    value: 'N',
    default: '1',
    description:
      'Number of processes that serve on one port. More than 1 needs the redis store; each worker loads the project and its models.',
    expected: 'a number of workers, 1 to 256',
    parse: wholeNumber(1, 256),
  }),
  consume: row({
    env: 'MILLRACE_CONSUME',
    value: 'BOOL',
    default: 'true',
    description:
      'Whether `serve` reads the sources of the project. Turn it off if `millrace consume` reads them in processes of its own.',
    expected: 'true or false',
    parse: bool,
  }),
  warmUpMs: row({
    env: 'MILLRACE_WARM_UP_MS',
    value: 'MS',
    default: '200',
    description:
      'How long a service that starts runs its pipelines on artificial requests before it listens, at most, in milliseconds; 0 for never. The first requests of clients are then faster. Artificial requests read and write nothing, call no server, and are not counted, logged or recorded.',
    expected: 'a number of milliseconds, 0 to 60000',
    parse: wholeNumber(0, 60_000),
  }),
  lameDuckMs: row({
    env: 'MILLRACE_LAME_DUCK_MS',
    value: 'MS',
    default: '5000',
    description:
      'How long `/readyz` answers 503 after SIGTERM while the service still accepts connections and serves as usual, in milliseconds.',
    expected: 'a number of milliseconds, 0 to 600000',
    parse: wholeNumber(0, 600_000),
  }),
  drainMs: row({
    env: 'MILLRACE_DRAIN_MS',
    value: 'MS',
    default: '10000',
    description:
      'How long a service that shuts down waits for requests in flight and for open connections, in milliseconds.',
    expected: 'a number of milliseconds, 0 to 600000',
    parse: wholeNumber(0, 600_000),
  }),
} as const;
