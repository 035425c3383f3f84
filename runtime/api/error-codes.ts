/** A row of the table of errors: the HTTP status, a fixed title, and what to do about it. */
interface ErrorRow {
  readonly status: number;
  readonly title: string;
  readonly remedy: string;
}

/** Errors of requests and of the running service, by their stable codes. docs/errors.md is generated from this. */
export const ERROR_CODES = {
  malformed_json: {
    status: 400,
    title: 'The body is not JSON',
    remedy: 'Send one JSON document, encoded in UTF-8; the detail gives the line and column where it breaks.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not HTTP/1.1',
    remedy:
      'See what the client, or a proxy before it, sends; the detail says where the parser stopped. The connection is closed.',
  },
  unknown_route: {
    status: 404,
    title: 'No such route',
    remedy: 'GET /openapi.json lists the routes of this service.',
  },
  unknown_entity_type: {
    status: 404,
    title: 'No such entity type',
    remedy: 'Use a type of schemas/entities, or declare one there.',
  },
  unknown_view: {
    status: 404,
    title: 'No such feature view',
    remedy: 'Use a view of schemas/features, or declare one there.',
  },
  unknown_pipeline: {
    status: 404,
    title: 'No such pipeline',
    remedy: 'Use the name of a file in pipelines/.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The route does not answer this method',
    remedy: 'The Allow header lists the methods.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'Send it again on another connection, and faster: 60 s are given for all of it.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    remedy: 'Send fewer items in one body; the detail gives the limit.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not application/json',
    remedy: 'Send Content-Type: application/json, in UTF-8.',
  },
  invalid_body: {
    status: 422,
    title: 'The body does not fit what the route takes',
    remedy: 'Each violation gives the JSON pointer of the place and what was expected there.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    remedy: 'Send fewer or shorter headers: 16 KiB are taken, the request line included.',
  },
  store_unavailable: {
    status: 503,
    title: 'The store does not answer',
    remedy: 'Check that Redis runs and REDIS_URL is right; a client tries again after Retry-After.',
  },
  store_partial_write: {
    status: 503,
    title: 'Only a part was stored',
    remedy: 'stored_ids are stored; send the others again. Sending all of it again is safe.',
  },
  record_unreadable: {
    status: 500,
    title: 'A stored record cannot be read',
    remedy:
      'Upload the entity again; if many are so, the store lost the layouts that its records were written under.',
  },
  deadline_exceeded: {
    status: 503,
    title: 'The request was not answered by its deadline',
    remedy: 'Try again; raise limits.time of the pipeline if this happens often.',
  },
  component_failed: {
    status: 500,
    title: 'A component failed',
    remedy:
      'The log has the cause under this request id; on_error: skip lets a ranking go on without the step.',
  },
  internal: {
    status: 500,
    title: 'Millrace failed',
    remedy: 'The log has the cause under this request id.',
  },
  project_invalid: {
    status: 500,
    title: 'The project has errors',
    remedy: 'millrace validate prints each with its place.',
  },
  data_folder_in_use: {
    status: 500,
    title: 'Another process owns the data folder',
    remedy: 'Stop that process, use --url to talk to it, or name another MILLRACE_DATA_DIR.',
  },
  data_folder_damaged: {
    status: 500,
    title: 'The data folder is damaged',
    remedy: 'Put a copy of it in its place, or remove it and load the data again.',
  },
  invalid_setting: {
    status: 500,
    title: 'A setting is wrong',
    remedy: 'docs/settings.md lists the settings and their values.',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_CODES;
