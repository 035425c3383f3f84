/** A row of the table of errors: the HTTP status, a fixed title, and what to do about it. */
interface ErrorRow {
  readonly status: number;
  readonly title: string;
  readonly remedy: string;
}

/** Errors of requests and of the running service, by their stable codes. docs/reference/errors.md is generated from this. */
export const ERROR_CODES = {
  malformed_json: {
    status: 400,
    title: 'The body is not JSON',
    remedy: 'Send one JSON document in UTF-8; the detail gives the line and column of the error.',
  },
  unknown_comparison: {
    status: 404,
    title: 'There is no such comparison',
    remedy:
      'Take the id that the start of the comparison answered. The last 10 are kept until the process ends.',
  },
  comparisons_full: {
    status: 409,
    title: 'Too many comparisons wait',
    remedy: 'Wait until one is done, or stop one.',
  },
  comparisons_elsewhere: {
    status: 409,
    title: 'This process compares nothing',
    remedy:
      'A service that ranks does not run comparisons. Run `millrace workbench --url` with its address beside it, in the folder of the project, or `millrace workbench` on the same Redis.',
  },
  unknown_round: {
    status: 404,
    title: 'There is no such round of judging',
    remedy: 'Take a name that `/api/v1/judging` lists.',
  },
  round_exists: {
    status: 409,
    title: 'A round of judging has this name',
    remedy: 'Choose another name, or export and remove the round.',
  },
  rounds_full: {
    status: 409,
    title: 'There are too many rounds of judging',
    remedy: 'Export a round and remove it.',
  },
  unknown_logged_request: {
    status: 404,
    title: 'The ledger has no such request',
    remedy:
      'The answer of a ranking has the id as request_id; only pipelines with `log:` are logged, and only as long as `ledger: keep` says.',
  },
  test_not_kept: {
    status: 422,
    title: 'The ranking cannot be kept as a test',
    remedy:
      'The detail says what a test cannot give. Write the test by hand, with `outputs:` for what is computed elsewhere.',
  },
  unknown_experiment: {
    status: 404,
    title: 'The project has no such experiment',
    remedy: 'Name an experiment of the project: `millrace experiments list` shows them.',
  },
  invalid_header: {
    status: 400,
    title: 'A header of the request is not valid',
    remedy: 'Correct the header that the detail names, or leave it out.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not HTTP/1.1',
    remedy:
      'Check what the client or a proxy sends; the detail says where the parser stopped. The connection is closed.',
  },
  key_required: {
    status: 401,
    title: 'The request needs a key',
    remedy:
      'Send `Authorization: Bearer` and a key that `millrace keys create` made; commands read it from MILLRACE_KEY.',
  },
  key_invalid: {
    status: 401,
    title: 'The key is not valid',
    remedy: 'Check that the whole key is sent, and that it is a key of this service.',
  },
  key_expired: {
    status: 401,
    title: 'The key is expired',
    remedy: 'Create a new key with `millrace keys create`.',
  },
  key_revoked: {
    status: 401,
    title: 'The key is revoked',
    remedy: 'Use the key that replaced it, or create one with `millrace keys create`.',
  },
  scope_missing: {
    status: 403,
    title: 'The key lacks a scope',
    remedy: 'Use a key with the scope that the detail names.',
  },
  key_not_allowed: {
    status: 403,
    title: 'The key may not use this',
    remedy: 'Use a key that may use the pipeline or the entity type that the detail names.',
  },
  csrf_missing: {
    status: 403,
    title: 'The request of a session lacks its token',
    remedy:
      'Send the header X-Millrace-CSRF with the token that GET /api/v1/session answers. Programs send a key instead of a cookie.',
  },
  invitation_invalid: {
    status: 403,
    title: 'The invitation does not open a session',
    remedy:
      'Ask for a new one, which `millrace keys invite` makes. If it is used, and nobody whom you know used it, revoke it with `millrace keys revoke`.',
  },
  preview_link_invalid: {
    status: 403,
    title: 'The link opens no preview',
    remedy: 'Ask who sent the link for a new one. A link opens until it expires or is revoked.',
  },
  unknown_invitation: {
    status: 404,
    title: 'No such invitation',
    remedy: 'Use the id of an invitation; GET /api/v1/invitations lists those that were made over HTTP.',
  },
  invitations_full: {
    status: 409,
    title: 'There is no room for another invitation',
    remedy: 'Revoke invitations that nobody needs, or wait until some are over.',
  },
  foreign_origin: {
    status: 403,
    title: 'The request comes from a web page of another origin',
    remedy:
      'Add the origin of the page to MILLRACE_CORS_ORIGINS, or call the service from a server. A proxy between them can also remove the headers Origin and Sec-Fetch-Site.',
  },
  not_passed: {
    status: 403,
    title: 'The front does not pass this on to the search engine',
    remedy:
      'Send searches and the reads that `pass:` of the front names; send everything else to the engine itself.',
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
  unknown_curation: {
    status: 404,
    title: 'No such list of rules',
    remedy: 'Use the name of a file in curation/.',
  },
  unknown_draft: {
    status: 404,
    title: 'No such draft',
    remedy: 'Use the name of a draft of the list; /api/v1/curation/draft/get lists them.',
  },
  unknown_preview_link: {
    status: 404,
    title: 'No such link to a preview',
    remedy: 'Use the id of a link; /api/v1/previews/links lists them.',
  },
  preview_links_full: {
    status: 409,
    title: 'There is no room for another link to a preview',
    remedy: 'Wait until some links expire, or make links that expire sooner.',
  },
  unknown_publish: {
    status: 404,
    title: 'No such publish',
    remedy: 'Use the id of a publish of the list; /api/v1/curation/history lists the latest.',
  },
  unknown_release: {
    status: 404,
    title: 'No such release',
    remedy: 'Use the version of a release that `millrace rollback --list` shows.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The route does not support this method',
    remedy: 'The Allow header lists the supported methods.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    remedy:
      'Send it again on a new connection. The whole request must arrive within 10 s (MILLRACE_RECEIVE_MS).',
  },
  curation_changed: {
    status: 409,
    title: 'Others replaced the list at the same time',
    remedy: 'Read the list again, and send it again.',
  },
  curation_conflict: {
    status: 409,
    title: 'Others published a change of the same campaign',
    remedy:
      'Compare both sides in `conflicts`. Save the campaign again in the draft with `rebase: true`, or remove it from the draft.',
  },
  feedback_not_stored: {
    status: 503,
    title: 'The ledger does not have the feedback yet',
    remedy:
      'Send the same feedback again: no event is counted twice. `acknowledge: stored` waits for the sinks; /metrics and the log say which one fails.',
  },
  release_not_kept: {
    status: 409,
    title: 'The files of the release are not kept',
    remedy:
      'Deploy its files again, or roll back to a release that is kept. A larger MILLRACE_RELEASE_BYTES keeps the next ones.',
  },
  release_unusable: {
    status: 409,
    title: 'The release cannot be served',
    remedy:
      'The detail says why: its files are damaged, need code that the instance does not have, or the instance has no writable temporary folder. Nothing has changed.',
  },
  reload_held: {
    status: 409,
    title: 'A rollback holds reloads',
    remedy: '`millrace rollback --end` takes the newest files again.',
  },
  reload_refused: {
    status: 409,
    title: 'The new project does not meet the condition of a reload',
    remedy:
      'Compare the projects with `millrace diff`, and correct the files. If the change is intended: `millrace reload --force`.',
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
  unknown_host: {
    status: 421,
    title: 'The service does not answer to this host name',
    remedy: 'Call it as localhost or 127.0.0.1 on its own machine, or add the name to MILLRACE_HOSTS.',
  },
  invalid_body: {
    status: 422,
    title: 'The body does not match the schema of the route',
    remedy: 'Each violation has the JSON pointer of the place and says what was expected there.',
  },
  too_many_entities: {
    status: 422,
    title: 'The index holds too many entities to read each',
    remedy:
      'Write a condition on attributes of the entities alone, send ids as candidates, or raise MILLRACE_INDEX_CANDIDATES (docs/candidates.md).',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    remedy:
      'Send fewer requests: RateLimit-Policy has the limit, and Retry-After the wait. MILLRACE_RATE_PER_ADDRESS sets the limit of an address.',
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
  store_overloaded: {
    status: 503,
    title: 'Too many reads or writes wait for the store',
    remedy: 'Send fewer requests at a time, or add instances; the store itself answers.',
  },
  store_loading: {
    status: 503,
    title: 'The store is loading its data',
    remedy: 'Wait: Redis answers again when it has read its data from disk.',
  },
  store_busy: {
    status: 503,
    title: 'The store is busy',
    remedy:
      'Find the script that runs for too long and stop it (SCRIPT KILL), or increase maxclients, as the detail says.',
  },
  store_read_only: {
    status: 503,
    title: 'The store accepts no writes',
    remedy:
      'Redis is a replica, or its disk is mounted read-only: set REDIS_URL or the Sentinels to the primary. Rankings still work.',
  },
  store_out_of_memory: {
    status: 503,
    title: 'The store is out of memory',
    remedy: 'Increase maxmemory of Redis, or delete what is not needed. Rankings still work.',
  },
  store_disk_full: {
    status: 503,
    title: 'The store cannot save to its disk',
    remedy:
      'Free space on the disk of Redis or of the data folder; the log of Redis has the cause. Rankings still work.',
  },
  store_not_replicated: {
    status: 503,
    title: 'Too few replicas confirmed the write',
    remedy:
      'Check the replicas, REDIS_WAIT_REPLICAS and min-replicas-to-write; sending the write again is safe.',
  },
  store_cluster_down: {
    status: 503,
    title: 'A part of the Redis Cluster is down',
    remedy: 'CLUSTER INFO and CLUSTER NODES list the slots without a primary and the failed nodes.',
  },
  store_wrong_type: {
    status: 503,
    title: 'A key of the store has another type',
    remedy:
      'Another application writes keys with this prefix: delete the key, and set another MILLRACE_PREFIX.',
  },
  store_refused: {
    status: 503,
    title: 'The store refuses the command',
    remedy: 'Check the user, the password and the permissions that docs/redis.md lists.',
  },
  store_partial_write: {
    status: 503,
    title: 'Only a part of the upload was stored',
    remedy:
      'stored_ids lists what is stored. Send the others again; it is also safe to send everything again.',
  },
  event_codes_conflict: {
    status: 500,
    title: 'The codes of the kinds of feedback do not fit',
    remedy:
      'The record of these codes was lost, damaged or replaced while services used it. Restart the services, or restore the record from a backup.',
  },
  record_unreadable: {
    status: 500,
    title: 'A stored record cannot be read',
    remedy:
      'Upload the entity again. If this happens for many entities, the store has lost the layouts of its records.',
  },
  overloaded: {
    status: 503,
    title: 'The service is overloaded',
    remedy:
      'Retry after Retry-After, with increasing pauses. If this happens often, add instances; millrace_requests_shed_total has the causes.',
  },
  deadline_exceeded: {
    status: 503,
    title: 'The request was not answered by its deadline',
    remedy: 'Try again; increase limits.time of the pipeline if this happens often.',
  },
  retrieval_failed: {
    status: 503,
    title: 'No retriever answered',
    remedy:
      'Check the search engines that `retrieve:` of the pipeline names; the log has the causes. Clients retry after Retry-After, or send candidates.',
  },
  service_unreachable: {
    status: 502,
    title: 'The service behind the workbench does not answer',
    remedy: 'Check that the service runs, and the address that `millrace workbench --url` has.',
  },
  engine_failed: {
    status: 503,
    title: 'The search engine does not answer',
    remedy:
      'Check the engine that `with: { url: … }` of the front names; the detail says what happened. Clients retry after Retry-After.',
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
  keys_missing: {
    status: 500,
    title: 'The keys file does not exist',
    remedy: 'Create a key with `millrace keys create`, or correct MILLRACE_KEYS.',
  },
  keys_damaged: {
    status: 500,
    title: 'The keys file cannot be used',
    remedy:
      'Correct the file at the place that the detail names, or restore it. docs/access.md describes it.',
  },
  invalid_setting: {
    status: 500,
    title: 'A setting is invalid',
    remedy: 'docs/reference/settings.md lists the settings and their values.',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Why the store did not do what it was asked for: the codes of reads. */
export const STORE_READ_FAILURES = [
  'store_unavailable',
  'store_overloaded',
  'store_loading',
  'store_busy',
  'store_cluster_down',
  'store_wrong_type',
  'store_refused',
] as const satisfies readonly ErrorCode[];

/** The codes of writes. */
export const STORE_WRITE_FAILURES = [
  ...STORE_READ_FAILURES,
  'store_read_only',
  'store_out_of_memory',
  'store_disk_full',
  'store_not_replicated',
] as const satisfies readonly ErrorCode[];

export type StoreFailure = (typeof STORE_WRITE_FAILURES)[number];
