import { expect } from 'chai';
import { STAGES } from '../../runtime/request/pipeline/stages.js';
import { SPANS, type SpanType } from '../../runtime/project/tracing/spans.js';
import { FAULTS, startInferenceServer, type InferenceServer } from '../support/inference-server.js';
import { startCollector, type CollectedSpan, type Collector } from '../support/otlp-collector.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';
import { until } from '../support/until.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLIENT = 'b7ad6b7169203331';
/** The number of spans of one ranking below. */
const RANKING_SPANS = 14;

const files = (url: string, onError: string): Record<string, string> => ({
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, rating: float, brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { boost: float }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { age: float }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request:
  candidates: {}
  user: optional(user)
limits: { time: 5s }
components:
  - use: open_inference
    as: deep
    on_error: ${onError}
    with:
      url: ${url}
      model: sum
      inputs: { features: [product.price, product.rating, product.brand.boost] }
      outputs: { score: sum }
      timeout: 2s
  - use: score
    as: best
    with: { value: 'coalesce(deep:score, product.rating, user.age)' }
`,
});

const BODY = {
  request_id: 'request-1',
  user: { user_id: 'canary-user' },
  candidates: ['canary-a', 'canary-b', 'canary-c'].map((product_id) => ({ product_id })),
};

describe('traces', () => {
  let model: InferenceServer;
  let collector: Collector;
  let project: ServedProject | undefined;

  beforeEach(async () => {
    model = await startInferenceServer();
    collector = await startCollector();
  });

  afterEach(async () => {
    await close();
    await model.close();
    await collector.close();
  });

  /** Closes the service, which sends its last spans. */
  async function close(): Promise<void> {
    await project?.close();
    project = undefined;
  }

  async function start(env: Readonly<Record<string, string>> = {}, onError = 'fail'): Promise<ServedProject> {
    project = await serveFiles(files(model.url, onError), undefined, {
      MILLRACE_MODEL_HOSTS: `127.0.0.1:${model.port}`,
      MILLRACE_TRACES: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      ...env,
    });
    await project.app.entities.upload({
      entity_type: 'product',
      entities: BODY.candidates.map(({ product_id }, i) => ({
        product_id,
        price: i,
        rating: 1,
        brand_id: 'canary-brand',
      })),
    });
    await project.app.entities.upload({
      entity_type: 'brand',
      entities: [{ brand_id: 'canary-brand', boost: 2 }],
    });
    return project;
  }

  interface Answer {
    readonly status: number;
    readonly json: Record<string, unknown>;
  }

  async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch((project?.url ?? '') + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  const rank = (headers: Record<string, string> = {}): Promise<Answer> =>
    post('/api/v1/ranking', BODY, headers);

  /** Closes the service and returns the only span with this name. */
  async function only(name: string): Promise<CollectedSpan> {
    await close();
    const found = collector.spans.filter((span) => span.name === name);
    expect(found, name).to.have.length(1);
    return found[0] as CollectedSpan;
  }

  /** The traceparent that the model server got with the last inference. */
  const sent = (): string | undefined => model.requests.at(-1)?.headers['traceparent'] as string | undefined;

  it('have the right parents across the client, the service and a remote model', async () => {
    await start();
    const headers = { traceparent: `00-${TRACE}-${CLIENT}-01`, tracestate: 'vendor=abc' };
    expect((await rank(headers)).status).to.equal(200);
    await close();
    const spans = new Map(collector.spans.map((span) => [span.spanId, span]));
    expect(spans.size).to.equal(collector.spans.length);
    const pathOf = (span: CollectedSpan): string => {
      const parent = spans.get(span.parentId);
      return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`;
    };
    const root = 'POST /api/v1/ranking';
    expect(collector.spans.map(pathOf).sort()).to.deep.equal(
      [
        root,
        `${root} > receive`,
        `${root} > queue`,
        ...STAGES.map(({ name }) => `${root} > ${name}`),
        `${root} > hydrate > store read`,
        `${root} > hydrate > store read`,
        `${root} > components > step deep`,
        `${root} > components > step deep > POST`,
        `${root} > components > step best`,
        `${root} > answer`,
      ].sort(),
    );
    for (const { traceId, traceState, isError } of collector.spans) {
      expect(traceId).to.equal(TRACE);
      expect(traceState).to.equal('vendor=abc');
      expect(isError).to.equal(false);
    }
    const request = collector.spans.find(({ name }) => name === root);
    expect(request).to.include({ parentId: CLIENT, kind: 'server', service: 'millrace' });
    const call = collector.spans.find(({ name }) => name === 'POST');
    expect(sent()).to.equal(`00-${TRACE}-${call?.spanId ?? ''}-01`);
    expect(model.requests.at(-1)?.headers['tracestate']).to.equal('vendor=abc');
  });

  it('have times within those of their parents', async () => {
    await start();
    model.behaviours = [
      (answer, body, request) => setTimeout(() => FAULTS['sends no outputs']?.(answer, body, request), 60),
    ];
    const before = BigInt(Date.now() - 2) * 1_000_000n;
    await rank();
    await close();
    const after = BigInt(Date.now() + 2) * 1_000_000n;
    const spans = new Map(collector.spans.map((span) => [span.spanId, span]));
    for (const { name, start: began, end, parentId } of spans.values()) {
      const parent = spans.get(parentId);
      expect(began >= (parent?.start ?? before), `${name} starts after its parent`).to.equal(true);
      expect(end <= (parent?.end ?? after), `${name} ends before its parent`).to.equal(true);
      if (name === 'POST') expect(Number(end - began) / 1e6).to.be.within(50, 2000);
    }
  });

  it('describe the request, the steps, the store and the call', async () => {
    await start();
    await rank();
    const request = await only('POST /api/v1/ranking');
    const named = (name: string): CollectedSpan | undefined =>
      collector.spans.find((span) => span.name === name);
    expect(request.attributes).to.deep.equal({
      'http.request.method': 'POST',
      'http.route': '/api/v1/ranking',
      'http.response.status_code': 200,
      'network.protocol.version': '1.1',
      'url.path': '/api/v1/ranking',
      'url.scheme': 'http',
      'millrace.request_id': 'request-1',
      'millrace.pipeline': 'ranking',
      'millrace.candidates': 3,
    });
    expect(named('step deep')?.attributes).to.deep.equal({
      'millrace.step.use': 'open_inference',
      'millrace.step.kind': 'model',
      'millrace.step.number': 1,
      'millrace.step.outcome': 'ran',
    });
    const reads = collector.spans.filter(({ name }) => name === 'store read');
    expect(reads.map(({ attributes }) => attributes['millrace.keys'])).to.deep.equal([4, 1]);
    expect(named('store read')?.kind).to.equal('client');
    expect(named('store read')?.attributes).to.include({
      'db.system.name': 'redis',
      'db.operation.name': 'read',
      'db.namespace': '0',
      'server.address': '127.0.0.1',
      'server.port': 6379,
    });
    expect(named('POST')?.attributes).to.deep.equal({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': model.port,
    });
    expect(named('receive')?.attributes).to.deep.equal({
      'millrace.body_bytes': Buffer.byteLength(JSON.stringify(BODY)),
    });
    expect(collector.resource).to.include({ 'service.name': 'millrace', 'telemetry.sdk.language': 'nodejs' });
    expect(collector.resource).to.have.property('service.instance.id');
  });

  it('have a span for each store trip of every route', async () => {
    await start();
    const entity = { product_id: 'x', price: 1 };
    await post('/api/v1/entities/upload', { entity_type: 'product', entities: [entity] });
    await post('/api/v1/entities/get', { entity_type: 'product', entity_ids: ['x'] });
    await post('/api/v1/entities/scan', { entity_type: 'product' });
    await post('/api/v1/entities/delete', { entity_type: 'product', entity_ids: ['x'] });
    await close();
    const parents = new Map(collector.spans.map((span) => [span.spanId, span.name]));
    const trips = collector.spans.filter(({ name }) => name.startsWith('store '));
    expect(trips.map(({ name, parentId }) => `${parents.get(parentId) ?? '?'}: ${name}`)).to.deep.equal([
      'POST /api/v1/entities/upload: store write',
      'POST /api/v1/entities/get: store read',
      'POST /api/v1/entities/scan: store scan',
      'POST /api/v1/entities/scan: store read',
      'POST /api/v1/entities/delete: store remove',
    ]);
  });

  it('have no other attributes than the documented ones, and no ids of entities', async () => {
    await start({}, 'skip');
    await rank();
    model.behaviours = [FAULTS['closes the socket'] as never];
    await rank();
    await post('/api/v1/ranking', { candidates: 'canary-text' });
    await post('/api/v1/canary-path', { user: 'canary-user' });
    await post('/api/v1/ranking/explain', BODY);
    await close();
    const typeOf = ({ name, kind }: CollectedSpan): SpanType => {
      if (kind === 'server') return 'request';
      if (name.startsWith('store ')) return 'store';
      if (name.startsWith('step ')) return 'step';
      if (kind === 'client') return 'call';
      return STAGES.some((stage) => stage.name === name) ? 'stage' : (name as SpanType);
    };
    const seen = new Map<SpanType, Set<string>>();
    for (const span of collector.spans) {
      const type = typeOf(span);
      const attributes = seen.get(type) ?? new Set();
      seen.set(type, attributes);
      for (const name of Object.keys(span.attributes)) attributes.add(name);
      expect(span.kind, span.name).to.equal(SPANS[type].kind);
      expect(JSON.stringify([span.name, span.attributes])).not.to.include('canary');
    }
    for (const [type, attributes] of seen) expect(SPANS[type].attributes).to.include.members([...attributes]);
    // Feast and readers have tests of their own.
    expect([...seen.keys()].sort()).to.deep.equal(
      Object.keys(SPANS)
        .filter((type) => type !== 'feast' && type !== 'reader')
        .sort(),
    );
  });

  for (const header of [
    `00-${TRACE}-${CLIENT}`,
    `00-${TRACE}-${CLIENT}-01-more`,
    `00-${'0'.repeat(32)}-${CLIENT}-01`,
    `00-${TRACE.toUpperCase()}-${CLIENT}-01`,
    `ff-${TRACE}-${CLIENT}-01`,
    'nonsense',
  ])
    it(`ignore the invalid traceparent ${header}`, async () => {
      await start();
      await rank({ traceparent: header, tracestate: 'vendor=abc' });
      const request = await only('POST /api/v1/ranking');
      expect(request).to.include({ parentId: '', traceState: '' });
      expect(request.traceId).not.to.equal(TRACE);
    });

  it('are not recorded if the client does not record, but continue to the remote model', async () => {
    await start();
    await rank({ traceparent: `00-${TRACE}-${CLIENT}-00` });
    await close();
    expect(collector.spans).to.deep.equal([]);
    expect(sent()).to.match(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });

  for (const env of [
    { OTEL_TRACES_SAMPLER: 'always_off' },
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
  ])
    it(`are not recorded with ${JSON.stringify(env)}`, async () => {
      await start(env);
      const { status, json } = await post('/api/v1/ranking', {});
      expect(status).to.equal(422);
      expect(json).not.to.have.property('trace_id');
      await rank();
      await close();
      expect(collector.requests).to.equal(0);
      expect(sent()).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    });

  it('follow the ratio of the sampler', async () => {
    await start({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' });
    for (let i = 0; i < 60; i++) await rank();
    await close();
    const recorded = collector.spans.filter(({ kind }) => kind === 'server').length;
    expect(recorded).to.be.within(10, 50);
  });

  it('record the failure of a remote model, and name the trace in the log and in the problem document', async () => {
    const { log } = await start();
    model.behaviours = [FAULTS['answers 500'] as never];
    const { status, json } = await rank();
    expect(status).to.equal(500);
    const request = await only('POST /api/v1/ranking');
    expect(request.isError).to.equal(true);
    expect(request.attributes).to.include({
      'http.response.status_code': 500,
      'error.type': 'component_failed',
    });
    const named = (name: string): CollectedSpan | undefined =>
      collector.spans.find((span) => span.name === name);
    expect(named('POST')?.attributes).to.include({ 'http.response.status_code': 500, 'error.type': '500' });
    expect(named('POST')?.isError).to.equal(true);
    expect(named('step deep')?.attributes).to.include({ 'millrace.step.outcome': 'failed' });
    expect(named('step deep')?.isError).to.equal(true);
    expect(named('components')?.attributes).to.deep.equal({ 'error.type': 'component_failed' });
    expect(json['trace_id']).to.equal(request.traceId);
    expect(log.find(({ msg }) => msg === 'request failed')).to.include({
      request_id: 'request-1',
      trace_id: request.traceId,
      span_id: request.spanId,
    });
  });

  it('record a skipped step as an error of the step, not of the request', async () => {
    await start({}, 'skip');
    model.behaviours = [FAULTS['closes the socket'] as never];
    expect((await rank()).status).to.equal(200);
    const request = await only('POST /api/v1/ranking');
    expect(request.isError).to.equal(false);
    expect(request.attributes).to.deep.include({ 'millrace.degraded': ['skipped=deep'] });
    const step = collector.spans.find(({ name }) => name === 'step deep');
    expect(step?.isError).to.equal(true);
    expect(step?.attributes).to.include({ 'error.type': 'closed', 'millrace.step.outcome': 'failed' });
    const calls = collector.spans.filter(({ name }) => name === 'POST');
    expect(calls.map(({ attributes }) => attributes['http.request.resend_count'])).to.deep.equal([
      undefined,
      1,
    ]);
  });

  it('record an error of the client without an error of the service', async () => {
    await start();
    const { json } = await post('/api/v1/ranking', {});
    const request = await only('POST /api/v1/ranking');
    expect(request.isError).to.equal(false);
    expect(request.attributes).to.include({
      'http.response.status_code': 422,
      'error.type': 'invalid_body',
    });
    expect(json['trace_id']).to.equal(request.traceId);
  });

  it('have no route for an unknown path, and none at all for health checks', async () => {
    const { url } = await start();
    await fetch(`${url}/healthz`);
    await fetch(`${url}/readyz`);
    await fetch(`${url}/nothing/here`);
    const { attributes } = await only('GET');
    expect(attributes).to.include({ 'http.response.status_code': 404, 'error.type': 'unknown_route' });
    expect(attributes).not.to.have.any.keys('http.route', 'url.path');
    expect(collector.spans.filter(({ kind }) => kind === 'server')).to.have.length(1);
  });

  it('continue after a reload', async () => {
    const { app } = await start();
    expect((await app.reload()).outcome).to.equal('succeeded');
    await rank();
    expect(await only('step deep')).to.have.property('isError', false);
  });

  it('are sent in batches, at the latest after the delay', async () => {
    await start({ OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '5' });
    await rank();
    await until('all spans', () => collector.spans.length === RANKING_SPANS);
    expect(collector.requests).to.equal(3);
  });

  it('are sent at shutdown', async () => {
    const { app } = await start();
    await rank();
    expect(collector.requests).to.equal(0);
    await close();
    expect(collector.spans).to.have.length(RANKING_SPANS);
    expect(await app.metrics.registry.metrics()).to.include(
      `millrace_trace_spans_total{outcome="exported"} ${RANKING_SPANS}`,
    );
  });

  it('do not delay a shutdown for longer than the drain time if the collector does not answer', async () => {
    await start({ MILLRACE_DRAIN_MS: '300' });
    collector.status = 0;
    await rank();
    const began = performance.now();
    await close();
    expect(performance.now() - began).to.be.within(250, 2000);
  });

  it('are counted and logged if the collector does not accept them', async () => {
    const { log, app } = await start();
    collector.status = 400;
    await rank();
    await close();
    expect(await app.metrics.registry.metrics()).to.include(
      `millrace_trace_spans_total{outcome="failed"} ${RANKING_SPANS}`,
    );
    expect(log.map(({ msg }) => msg)).to.include('the collector did not accept the traces');
  });

  it('are dropped and counted if too many wait', async () => {
    const { app } = await start({ OTEL_BSP_MAX_QUEUE_SIZE: '4' });
    collector.status = 0;
    await rank();
    await rank();
    const text = await app.metrics.registry.metrics();
    expect(Number(/spans_total{outcome="dropped"} (\d+)/.exec(text)?.[1])).to.be.greaterThan(4);
    collector.status = 200;
  });

  it('do not exist if they are off: no header is sent, and no trace is named', async () => {
    const { app } = await start({ MILLRACE_TRACES: 'off' });
    await rank({ traceparent: `00-${TRACE}-${CLIENT}-01` });
    const { json } = await post('/api/v1/ranking', {}, { traceparent: `00-${TRACE}-${CLIENT}-01` });
    expect(json).not.to.have.property('trace_id');
    expect(sent()).to.equal(undefined);
    expect(await app.metrics.registry.metrics()).to.include(
      'millrace_trace_spans_total{outcome="exported"} 0',
    );
    await close();
    expect(collector.requests).to.equal(0);
  });
});
