import { DEFAULT_EVENTS } from '../../runtime/project/config/project/load-events.js';
import { request as sendRequest } from 'node:http';
import { pino, type Logger } from 'pino';
import type { ValueType } from '../../runtime/ground/api/types.js';
import type { EntityType } from '../../runtime/project/config/model/entities.js';
import type { FeatureView } from '../../runtime/project/config/model/views.js';
import { SourceFile } from '../../runtime/project/config/yaml/source.js';
import { Admission } from '../../runtime/serve/http/admission/admission.js';
import { createHttpApp } from '../../runtime/serve/http/app.js';
import type { ExperimentState } from '../../runtime/request/experiments/experiment-states.js';
import { StatusCounts } from '../../runtime/state/index/status-counts.js';
import { listen, type ListenOptions } from '../../runtime/serve/http/listen.js';
import { HttpMetrics } from '../../runtime/serve/metrics/http-metrics.js';
import type { HttpServices } from '../../runtime/serve/http/services.js';
import type { Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import type { Pipeline, RequestContext, RunReport } from '../../runtime/request/pipeline/types.js';

/** Calls that the fakes got, in order. */
export interface Calls {
  readonly bodies: unknown[];
  readonly contexts: RequestContext[];
}

export interface Running {
  readonly url: string;
  readonly port: number;
  readonly calls: Calls;
  /** Everything logged, one line of JSON after the other. */
  log(): string;
  /** @param drainMs how long requests in flight may take */
  close(drainMs?: number): Promise<void>;
}

const at = { file: new SourceFile('schemas/entities/product.yaml', ''), start: 0, end: 0 };

/** A small project's types: each kind of value once. */
export const ENTITY_TYPES: ReadonlyMap<string, EntityType> = new Map(
  [
    entityType('product', 'product_id', [
      ['title', { kind: 'string' }],
      ['price', { kind: 'float' }],
      ['number_in_stock', { kind: 'int' }],
      ['on_sale', { kind: 'bool' }],
      ['added', { kind: 'timestamp' }],
      ['brand', { kind: 'ref', entity: 'brand' }],
      ['categories', { kind: 'list', of: { kind: 'string' } }],
      ['related', { kind: 'list', of: { kind: 'ref', entity: 'product' } }],
      ['size', { kind: 'vector', size: 3 }],
      ['embedding', { kind: 'vector', size: 64 }],
      ['seller', { kind: 'record', fields: new Map([['name', { kind: 'string' }]]) }],
      ['constructor', { kind: 'string' }],
    ]),
    entityType('brand', 'brand_id', []),
    entityType('query', 'query', []),
  ].map((type) => [type.name, type]),
);

function entityType(name: string, key: string, types: readonly (readonly [string, ValueType])[]): EntityType {
  const attributes = types.map(([attribute, type]) => ({ name: attribute, type, at }));
  return { name, key, at, attributes: new Map(attributes.map((attribute) => [attribute.name, attribute])) };
}

export const VIEWS: ReadonlyMap<string, FeatureView> = new Map([
  [
    'product_stats',
    {
      name: 'product_stats',
      of: ['product'],
      ttl: null,
      expired: 'missing',
      group: 'features',
      at,
      features: new Map([['ctr_7d', { name: 'ctr_7d', type: { kind: 'float' }, default: undefined, at }]]),
    },
  ],
]);

export const ANSWER = { ranked_candidates: [{ candidate_id: 'p1', ranked_score: 1.5 }] };

export const REPORT: RunReport = {
  stageMs: { read: 1, hydrate: 2, features: 0.5, components: 3, page: 0.1 },
  stepMs: Float64Array.of(2, NaN),
  roundTrips: 2,
  keysRead: 48,
  outside: { roundTrips: 1, keysRead: 24, reads: [] },
  featureStatuses: new StatusCounts(),
  attributeStatuses: new StatusCounts(),
  missingEntities: new Map(),
  experiments: [],
  candidates: 24,
  duplicates: 2,
  skippedSteps: ['deep'],
  degraded: [
    { cause: 'unscored', value: '3/24' },
    { cause: 'skipped', value: 'deep' },
  ],
  unscored: 3,
  misspeltFields: [],
  unknownFields: new Map([
    ['candidates.colour', 24],
    ['device', 1],
  ]),
};

export const EXPLANATION: Explanation = {
  request_id: 'r1',
  run_id: 'run1',
  pipeline: 'ranking',
  route: '/api/v1/ranking',
  candidates: { sent: 1, duplicates: { count: 0, ids: [] }, left: 1 },
  params: {},
  degraded: [],
  stages: [],
  store: { round_trips: 1, keys_read: 1 },
  outside: { round_trips: 0, keys_read: 0 },
  unknown_fields: [],
  features: [],
  steps: [],
  request: {},
  page: [],
  answer: ANSWER,
};

/** A pipeline that answers the same to everything. */
export function fakePipeline(calls: Calls, over: Partial<Pipeline> = {}): Pipeline {
  return {
    name: 'ranking',
    route: '/api/v1/ranking',
    task: 'rank',
    steps: ['title', 'ltr'],
    fields: [],
    limitMs: 10_000,
    run: (body, context) => {
      calls.bodies.push(body);
      calls.contexts.push(context);
      return Promise.resolve({ answer: ANSWER, report: REPORT });
    },
    explain: (body, context) => {
      calls.bodies.push(body);
      calls.contexts.push(context);
      return Promise.resolve(EXPLANATION);
    },
    requestSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['candidates', 'query'],
      properties: {
        request_id: { type: 'string' },
        candidates: { type: 'array', maxItems: 1000, items: { $ref: '#/$defs/candidate' } },
        query: { type: 'object', required: ['query'], properties: { query: { type: 'string' } } },
        user: {
          anyOf: [
            { type: 'object', required: ['user_id'], properties: { user_id: { type: 'string' } } },
            { type: 'null' },
          ],
        },
        user_page: { type: 'integer', minimum: 0, default: 0 },
        user_page_size: { type: 'integer', minimum: 1, maximum: 100, default: 24 },
      },
      $defs: {
        candidate: {
          type: 'object',
          required: ['product_id'],
          properties: { product_id: { type: 'string' }, search_score: { type: 'number' } },
        },
      },
    },
    answerSchema: {
      type: 'object',
      required: ['ranked_candidates'],
      properties: {
        ranked_candidates: {
          type: 'array',
          items: {
            type: 'object',
            required: ['candidate_id', 'ranked_score'],
            properties: { candidate_id: { type: 'string' }, ranked_score: { type: 'number' } },
          },
        },
      },
    },
    describe: () => {
      throw new Error('no route asks for the plan');
    },
    ...over,
  };
}

/** What the fakes do; without any, everything succeeds and is recorded in `calls`. */
export type Fakes = Partial<Omit<HttpServices, 'pipelines' | 'logger'>> & {
  readonly pipelines?: readonly Partial<Pipeline>[];
  readonly logger?: Logger;
};

export function fakeServices(calls: Calls, logger: Logger, over: Fakes = {}): HttpServices {
  const record = (body: unknown): Promise<unknown> => {
    calls.bodies.push(body);
    return Promise.resolve({ entity_type: 'product', entity_ids: ['p1'] });
  };
  const stopped = (body: unknown): Promise<ExperimentState> => {
    calls.bodies.push(body);
    return Promise.resolve({
      experiment: 'popularity',
      pipeline: 'ranking',
      mode: 'split',
      layer: 'popularity',
      share: 1,
      arms: [],
      state: 'stopped',
    });
  };
  return {
    entities: { upload: record, update: record, get: record, remove: record },
    features: { push: record, remove: record },
    feastWrites: { write: record, push: record },
    curation: { put: record, get: record },
    drafts: {
      ...{ put: record, get: record, discard: record, publish: record, history: record, undo: record },
      ...{ upload: record, export: record },
      preview: () => Promise.resolve(new Map()),
      zone: 'UTC',
    } as unknown as HttpServices['drafts'],
    judging: {
      list: () => Promise.resolve({ pipelines: [], rounds: [] }),
      ...{ start: record, query: record, grade: record, add: record, export: record, remove: record },
    } as unknown as HttpServices['judging'],
    experiments: { list: () => ({ experiments: [] }), stop: stopped, resume: stopped },
    releases: {
      list: () => Promise.resolve({ serving: '', rollback: null, releases: [] }),
      rollBack: () => Promise.resolve({ version: '', version_before: '', since: '', not_carried: [] }),
      end: () => Promise.resolve({ version: '', version_before: null, problem: null }),
    },
    scans: { entities: record, features: record },
    online: {
      read: async (body) => ({
        answer: await record(body),
        report: { roundTrips: 1, keysRead: 2, featureStatuses: new StatusCounts() },
      }),
    },
    forget: { run: () => Promise.resolve({}) },
    counters: { rebuild: () => Promise.resolve({}) },
    sessions: {
      open: async (body) => {
        await record(body);
        return {
          key: { id: 'k', name: 'anna', hash: Buffer.of(), scopes: [], created: 0 },
          cookie: 'c',
          until: 0,
        };
      },
      end: () => Promise.resolve(),
      describe: () => undefined,
      mustLoad: () => false,
      load: () => Promise.resolve(),
      access: () => undefined,
    },
    invitations: {
      list: () => Promise.resolve({ invitations: [] }),
      create: record,
      revoke: record,
    } as unknown as HttpServices['invitations'],
    previewLinks: {
      share: record,
      links: () => Promise.resolve({ links: [] }),
      revoke: record,
      open: async (body: unknown) => ({
        ...((await record(body)) as object),
        pipeline: 'ranking',
        request: {},
        at: null,
      }),
    } as unknown as HttpServices['previewLinks'],
    feedback: { record: async (body) => ({ answer: await record(body), counts: [] }) },
    store: { ping: () => Promise.resolve() },
    entityTypes: ENTITY_TYPES,
    views: VIEWS,
    curationLists: ['campaigns'],
    counterNames: ['clicked'],
    experimentNames: ['popularity'],
    eventKinds: DEFAULT_EVENTS,
    logger,
    auditLog: logger.child({ audit: true }),
    version: '1.2.3',
    ...over,
    pipelines: (over.pipelines ?? [{}]).map((pipeline) => fakePipeline(calls, pipeline)),
  };
}

/** Starts the app with fakes on a free port. */
export async function start(over: Fakes = {}, options: ListenOptions = {}): Promise<Running> {
  const calls: Calls = { bodies: [], contexts: [] };
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  const metrics = new HttpMetrics();
  const admission = over.admission ?? new Admission();
  const app = createHttpApp(fakeServices(calls, logger, { metrics, admission, ...over }));
  const server = await listen(
    app,
    { host: '127.0.0.1', port: 0 },
    {
      refused: (status) => metrics.refused(status),
      admission,
      ...options,
    },
  );
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    calls,
    log: () => lines.join(''),
    close: (drainMs = 0) => server.close(drainMs),
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined where the answer is no JSON. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

/** Sends a body as JSON: a text or bytes as they are, anything else through JSON.stringify. */
export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  return call(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: raw ? body : JSON.stringify(body),
  });
}

export async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? (JSON.parse(text) as Record<string, unknown>) : undefined,
  };
}

/** Sends exactly these headers and no other; fetch would add a Content-Type of its own. */
export function postPlain(
  url: string,
  body: string | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; code: unknown }> {
  return new Promise((resolve, reject) => {
    const request = sendRequest(url, { method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const { code } = JSON.parse(text) as { code?: unknown };
        resolve({ status: response.statusCode ?? 0, code });
      });
    });
    request.once('error', reject);
    request.end(body);
  });
}
