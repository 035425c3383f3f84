/** One type of span. docs/tracing.md is generated from the table of these. */
interface SpanRow {
  readonly kind: 'server' | 'client' | 'internal';
  /** The name of the span, for the docs. */
  readonly name: string;
  /** The type of its parent, for the docs. */
  readonly parent: string;
  readonly does: string;
  /** All attributes that it may have. */
  readonly attributes: readonly string[];
}

const DB_ATTRIBUTES = [
  'db.system.name',
  'db.operation.name',
  'db.namespace',
  'server.address',
  'server.port',
  'millrace.keys',
  'error.type',
];

/**
 * The types of spans. Names of attributes are those of the OpenTelemetry semantic conventions where one exists. No
 * attribute holds the id of an entity, a value, or a text of the body other than the request id.
 */
export const SPANS = {
  request: {
    kind: 'server',
    name: 'method and route, e.g. `POST /api/v1/ranking`',
    parent: 'the span of the client',
    does: 'one request, from its arrival to the last byte of its answer',
    attributes: [
      'http.request.method',
      'http.route',
      'http.response.status_code',
      'network.protocol.version',
      'url.scheme',
      'url.path',
      'error.type',
      'millrace.request_id',
      'millrace.pipeline',
      'millrace.candidates',
      'millrace.degraded',
    ],
  },
  receive: {
    kind: 'internal',
    name: '`receive`',
    parent: 'request',
    does: 'reads and inflates the body',
    attributes: ['millrace.body_bytes', 'error.type'],
  },
  queue: {
    kind: 'internal',
    name: '`queue`',
    parent: 'request',
    does: 'waits for its turn to use the CPU',
    attributes: ['error.type'],
  },
  stage: {
    kind: 'internal',
    name: 'the stage: `read`, `hydrate`, `features`, `components` or `page`',
    parent: 'request',
    does: 'one [stage](architecture.md#a-request) of a ranking',
    attributes: ['error.type'],
  },
  step: {
    kind: 'internal',
    name: '`step` and its `as:` name, e.g. `step ltr`',
    parent: 'stage `components`',
    does: 'one step of the pipeline',
    attributes: [
      'millrace.step.use',
      'millrace.step.kind',
      'millrace.step.number',
      'millrace.step.outcome',
      'millrace.model.version',
      'millrace.arm',
      'error.type',
    ],
  },
  store: {
    kind: 'client',
    name: '`store` and the operation, e.g. `store read`',
    parent: 'the stage, or the request',
    does: 'one round trip to the store',
    attributes: DB_ATTRIBUTES,
  },
  feast: {
    kind: 'client',
    name: '`feast read`',
    parent: 'the stage, or the request',
    does: "one read from Feast's Redis",
    attributes: DB_ATTRIBUTES,
  },
  reader: {
    kind: 'internal',
    name: '`read` and the view, e.g. `read stock`',
    parent: 'the stage, or the request',
    does: 'one read of a view by its [reader](readers.md)',
    attributes: [
      'millrace.view',
      'millrace.keys',
      'millrace.read.outcome',
      'millrace.read.asked',
      'error.type',
    ],
  },
  call: {
    kind: 'client',
    name: 'the HTTP method, e.g. `POST`',
    parent: 'step',
    does: 'one call to a remote model; a retry is a call of its own',
    attributes: [
      'http.request.method',
      'http.request.resend_count',
      'http.response.status_code',
      'server.address',
      'server.port',
      'error.type',
    ],
  },
  answer: {
    kind: 'internal',
    name: '`answer`',
    parent: 'request',
    does: 'serializes the answer and sends it, until the client has read it',
    attributes: [],
  },
} as const satisfies Record<string, SpanRow>;

export type SpanType = keyof typeof SPANS;
