import { oneOf, row, wholeNumber } from './setting-row.js';

/** What bodies of requests may be, and their limits. */
export const BODY_SETTINGS = {
  accept: row({
    env: 'MILLRACE_ACCEPT',
    value: 'MODE',
    default: 'strict',
    description:
      'What becomes of a value of another type than the declared one, in the bodies of rankings, uploads, updates and pushes, and in imports. `strict` answers 422. `lax` converts it by the rules of the lax mode of pydantic where one applies: the text `"12.5"` becomes a number, and the number 123 a text.',
    expected: 'strict or lax',
    parse: oneOf('strict', 'lax'),
  }),
  rankingBytes: row({
    env: 'MILLRACE_MAX_RANKING_BYTES',
    value: 'BYTES',
    default: '2097152',
    description: 'Maximum size of the body of a ranking request, decompressed, in bytes.',
    expected: 'a number of bytes, 1024 to 268435456',
    parse: wholeNumber(1024, 268_435_456),
  }),
  uploadBytes: row({
    env: 'MILLRACE_MAX_UPLOAD_BYTES',
    value: 'BYTES',
    default: '12582912',
    description: 'Maximum size of the body of an upload or a push, decompressed, in bytes.',
    expected: 'a number of bytes, 1024 to 268435456',
    parse: wholeNumber(1024, 268_435_456),
  }),
  bodyMemory: row({
    env: 'MILLRACE_BODY_MEMORY',
    value: 'BYTES',
    default: '134217728',
    description:
      'Maximum memory of the bodies of all requests in flight, decompressed, in bytes. A request whose body does not fit is answered with 503. Cannot be less than the maximum size of one body.',
    expected: 'a number of bytes, 1048576 to 4294967296',
    dividedByWorkers: true,
    parse: wholeNumber(1_048_576, 4_294_967_296),
  }),
} as const;
