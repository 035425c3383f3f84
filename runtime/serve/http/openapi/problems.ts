import { ERROR_CODES, STORE_READ_FAILURES, type ErrorCode } from '../../../ground/api/error-codes.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { problemDocument } from '../problem.js';
import { schemaRef, type Schema } from './types.js';

/** The problems that any route with a body may return. */
export const BODY_PROBLEMS = [
  'foreign_origin',
  'unknown_host',
  'rate_limited',
  'malformed_json',
  'body_too_large',
  'unsupported_media_type',
  'invalid_body',
  'overloaded',
  'internal',
] as const satisfies readonly ErrorCode[];

/** The problems that any route without a body may return. */
export const HEAD_PROBLEMS = ['foreign_origin', 'unknown_host'] as const satisfies readonly ErrorCode[];

/** The problems of a request without a valid key. */
export const KEY_PROBLEMS = [
  'key_required',
  'key_invalid',
  'key_expired',
  'key_revoked',
] as const satisfies readonly ErrorCode[];

/** The problems that a pipeline's route may return. */
export const PIPELINE_PROBLEMS = [
  ...BODY_PROBLEMS,
  ...STORE_READ_FAILURES,
  'deadline_exceeded',
  'component_failed',
  'retrieval_failed',
] as const satisfies readonly ErrorCode[];

const IDS: Schema = { type: 'array', items: { type: 'string' } };
const ROWS: Schema = { type: 'array', items: { type: 'integer' } };

/** The schema of every problem document. */
export const PROBLEM_SCHEMA: Schema = {
  type: 'object',
  description: 'A problem document (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string', description: '`urn:millrace:problem:` and the code.' },
    title: { type: 'string', description: 'The same for every problem of this code.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What is wrong this time.' },
    code: { type: 'string', description: 'Stable; what a program decides by.' },
    request_id: { type: 'string', description: 'The same as in the header `X-Request-Id`.' },
    trace_id: { type: 'string', description: 'The id of the trace, if one is recorded: 32 hex digits.' },
    errors: {
      type: 'array',
      description: 'What is wrong with the body.',
      items: {
        type: 'object',
        required: ['pointer', 'code', 'detail'],
        properties: {
          pointer: {
            type: 'string',
            description: 'JSON pointer (RFC 6901) of the place; empty: the whole body.',
          },
          code: { type: 'string' },
          detail: { type: 'string' },
        },
      },
    },
    violation_count: { type: 'integer', description: 'Of all violations; `errors` lists the first 50.' },
    scope: { type: 'string', description: 'The scope that the key lacks.' },
    entity_type: { type: 'string', description: 'Of a record that cannot be read: the type of its entity.' },
    entity_id: { type: 'string', description: 'Of a record that cannot be read: the id of its entity.' },
    stored_ids: { ...IDS, description: 'Of an upload that failed midway: what is stored.' },
    deleted_ids: { ...IDS, description: 'Of a delete that failed midway: what is deleted.' },
    unconfirmed_ids: { ...IDS, description: 'What may or may not be done.' },
    stored_rows: {
      ...ROWS,
      description: 'Of a push that failed midway: positions of the rows that are stored.',
    },
    deleted_rows: {
      ...ROWS,
      description: 'Of a deletion of rows that failed midway: positions of the rows that are deleted.',
    },
    unconfirmed_rows: {
      ...ROWS,
      description: 'Positions of the rows that may or may not be stored or deleted.',
    },
  },
};

/** Describes the answers of these codes, grouped by status. The texts come from the table of errors. */
export function problemResponses(codes: readonly ErrorCode[]): Schema {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const statuses = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(statuses.map(([status, its]) => [String(status), response(status, its)]));
}

/** An answer with a problem document. Its examples are references, by code. */
export interface ProblemResponse {
  readonly description: string;
  readonly headers: Schema;
  readonly content: Readonly<
    Record<'application/problem+json', { readonly schema: Schema; readonly examples: Schema }>
  >;
}

function response(status: number, codes: readonly ErrorCode[]): ProblemResponse {
  return {
    description: codes.map((code) => `${ERROR_CODES[code].title} (\`${code}\`).`).join(' '),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      ...(status === 401 ? { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } } : {}),
      ...(status === 503 || status === 429
        ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
        : {}),
    },
    content: {
      'application/problem+json': {
        schema: schemaRef('problem'),
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** Describes the problems of two answers of one status. */
export function joinResponses(one: ProblemResponse, other: ProblemResponse): ProblemResponse {
  const { schema, examples } = one.content['application/problem+json'];
  return {
    ...one,
    description: `${one.description} ${other.description}`,
    content: {
      'application/problem+json': {
        schema,
        examples: { ...examples, ...other.content['application/problem+json'].examples },
      },
    },
  };
}

/** An example of each problem, by its code. */
export const PROBLEM_EXAMPLES: Readonly<Record<string, Schema>> = Object.fromEntries(
  (Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => [
    code,
    { summary: ERROR_CODES[code].title, value: exampleOf(code) },
  ]),
);

function exampleOf(code: ErrorCode): Schema {
  const { remedy } = ERROR_CODES[code];
  const violation = {
    pointer: '/entities/3/price',
    code: 'wrong_type',
    detail: 'expected a number, found a text',
  };
  const error = new MillraceError(code, remedy, {
    violations: code === 'invalid_body' ? [violation] : [],
    extensions:
      code === 'store_partial_write'
        ? { stored_ids: ['product-1'] }
        : code === 'scope_missing'
          ? { scope: 'rank' }
          : {},
  });
  return problemDocument(error, '4f8c2f0e-7f0b-4d9d-9c39-1f1f5f0f8a55');
}
