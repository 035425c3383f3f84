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
    remedy: 'Send one JSON document in UTF-8; the detail gives the line and column of the error.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not HTTP/1.1',
    remedy:
      'Check what the client or a proxy sends; the detail says where the parser stopped. The connection is closed.',
  },
  unknown_route: {
    status: 404,
    title: 'No such route',
    remedy: 'GET /openapi.json lists the routes of this service.',
  },
  unknown_entity_type: {
    status: 404,
    title: 'No such entity type',
    remedy: 'Use an entity type of schemas/entities, or declare one there.',
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
    title: 'The route does not support this method',
    remedy: 'The Allow header lists the supported methods.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'Send it again on a new connection. The whole request must arrive within 60 s.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    remedy: 'Send fewer items per body; the detail gives the limit.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not application/json',
    remedy: 'Send Content-Type: application/json, in UTF-8.',
  },
  invalid_body: {
    status: 422,
    title: 'The body does not match the schema of the route',
    remedy: 'Each violation has the JSON pointer of the place and says what was expected there.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    remedy: 'Send fewer or shorter headers: the limit is 16 KiB, including the request line.',
  },
  store_unavailable: {
    status: 503,
    title: 'The store does not answer',
    remedy: 'Check that Redis is running and REDIS_URL is correct; clients retry after Retry-After.',
  },
  store_partial_write: {
    status: 503,
    title: 'Only a part of the upload was stored',
    remedy:
      'stored_ids lists what is stored. Send the others again; it is also safe to send everything again.',
  },
  record_unreadable: {
    status: 500,
    title: 'A stored record cannot be read',
    remedy:
      'Upload the entity again. If this happens for many entities, the store has lost the layouts of its records.',
  },
  deadline_exceeded: {
    status: 503,
    title: 'The request was not answered by its deadline',
    remedy: 'Try again; increase limits.time of the pipeline if this happens often.',
  },
  component_failed: {
    status: 500,
    title: 'A component failed',
    remedy:
      'The log has the cause under this request id. With on_error: skip, a ranking continues without the step.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    remedy: 'The log has the cause under this request id.',
  },
  project_invalid: {
    status: 500,
    title: 'The project has errors',
    remedy: 'Run millrace validate: it prints each error with its place.',
  },
  data_folder_in_use: {
    status: 500,
    title: 'Another process owns the data folder',
    remedy: 'Stop that process, send the data to it with --url, or set another MILLRACE_DATA_DIR.',
  },
  data_folder_damaged: {
    status: 500,
    title: 'The data folder is damaged',
    remedy:
      'Run `millrace store repair`: it keeps what can be read. Or restore a backup into an empty folder.',
  },
  data_folder_newer: {
    status: 500,
    title: 'A later version of Millrace wrote the data folder',
    remedy: 'Start the version that wrote it, or restore a backup or an export that this version can read.',
  },
  invalid_setting: {
    status: 500,
    title: 'A setting is invalid',
    remedy: 'docs/settings.md lists the settings and their values.',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_CODES;
