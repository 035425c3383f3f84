import { row, wholeNumber } from './setting-row.js';

/** How much traffic the service accepts, and how long a client may take. */
export const TRAFFIC_SETTINGS = {
  maxInFlight: row({
    env: 'MILLRACE_MAX_IN_FLIGHT',
    value: 'REQUESTS',
    default: '1000',
    description:
      'Maximum number of requests in flight. Rankings may use all of it; the other classes of requests may use a part of it (docs/http.md).',
    expected: 'a number of requests, 1 to 100000',
    dividedByWorkers: true,
    parse: wholeNumber(1, 100_000),
  }),
  queueMs: row({
    env: 'MILLRACE_QUEUE_MS',
    value: 'MS',
    default: '20',
    description:
      'Wait that a ranking accepts during an overload, in milliseconds, while 64 requests or more wait. A request that would wait longer is refused.',
    expected: 'a number of milliseconds, 1 to 60000',
    parse: wholeNumber(1, 60_000),
  }),
  indexCandidates: row({
    env: 'MILLRACE_INDEX_CANDIDATES',
    value: 'ENTITIES',
    default: '10000',
    description:
      'Most entities of a type that a request may read to find its candidates, where no kept attributes answer it (docs/candidates.md); 0 refuses such requests.',
    expected: 'a number of entities, 0 to 1000000',
    parse: wholeNumber(0, 1_000_000),
  }),
  requestMs: row({
    env: 'MILLRACE_REQUEST_MS',
    value: 'MS',
    default: '15000',
    description:
      'Time limit of a request to a route without a limit of its own, such as an upload, in milliseconds. It starts when the head of the request arrives.',
    expected: 'a number of milliseconds, 1 to 600000',
    parse: wholeNumber(1, 600_000),
  }),
  receiveMs: row({
    env: 'MILLRACE_RECEIVE_MS',
    value: 'MS',
    default: '10000',
    description: 'Time within which a client must send a whole request, head and body, in milliseconds.',
    expected: 'a number of milliseconds, 10 to 600000',
    parse: wholeNumber(10, 600_000),
  }),
  stallMs: row({
    env: 'MILLRACE_STALL_MS',
    value: 'MS',
    default: '30000',
    description: 'A connection is closed if its client reads nothing of an answer for so many milliseconds.',
    expected: 'a number of milliseconds, 100 to 600000',
    parse: wholeNumber(100, 600_000),
  }),
  maxConnections: row({
    env: 'MILLRACE_MAX_CONNECTIONS',
    value: 'CONNECTIONS',
    default: '10000',
    description:
      'Maximum number of client connections. A low limit of open files (`ulimit -n`) reduces it. When it is reached, the connection that is idle for the longest time is closed.',
    expected: 'a number of connections, 1 to 1000000',
    dividedByWorkers: true,
    parse: wholeNumber(1, 1_000_000),
  }),
  maxConnectionsPerAddress: row({
    env: 'MILLRACE_MAX_CONNECTIONS_PER_ADDRESS',
    value: 'CONNECTIONS',
    default: '0',
    description:
      'The same for each client address; 0 for no such limit. Clients behind one proxy have one address.',
    expected: 'a number of connections, 0 to 1000000',
    dividedByWorkers: true,
    parse: wholeNumber(0, 1_000_000),
  }),
} as const;
