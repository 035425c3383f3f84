import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { FAULTS, startInferenceServer, sum, type InferenceServer } from '../support/inference-server.js';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

const files = (step: string, time = '2s'): Record<string, string> => ({
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, rating: float }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request:
  candidates: {}
limits: { time: ${time} }
components:
${step}
  - use: score
    unscored: keep
    with: { value: 'coalesce(deep:score, product.rating)' }
`,
});

const remote = (url: string, more: string): string => `  - use: open_inference
    as: deep
    ${more}
    with:
      url: ${url}
      model: sum
      inputs: { features: [product.price, product.rating] }
      outputs: { score: sum }
      timeout: 150ms
      headers: { Authorization: 'Bearer \${MILLRACE_TEST_TOKEN:-none}' }`;

describe('remote models in a pipeline', () => {
  let server: InferenceServer;
  let project: TestProject | undefined;

  beforeEach(async () => {
    server = await startInferenceServer();
  });

  afterEach(async () => {
    await project?.close();
    project = undefined;
    await server.close();
  });

  async function start(more: string, time?: string): Promise<TestProject> {
    const env = { MILLRACE_MODEL_HOSTS: `127.0.0.1:${server.port}` };
    project = await startProject(files(remote(server.url, more), time), { env });
    await project.upload('product', { product_id: 'a', price: 3, rating: 1 });
    await project.upload('product', { product_id: 'b', price: 1, rating: 2 });
    await project.upload('product', { product_id: 'c', rating: 5 });
    return project;
  }

  /** The metrics of the step. */
  async function counted({ app }: Pick<TestProject, 'app'>): Promise<object> {
    const text = await app.metrics.registry.metrics();
    const number = (name: string): number =>
      Number(new RegExp(`^${name}{pipeline="ranking",step="deep"} (.*)$`, 'm').exec(text)?.[1]);
    const requests = text.matchAll(
      /^millrace_outbound_requests_total\{pipeline="ranking",step="deep",outcome="(\w+)"\} (\d+)$/gm,
    );
    return {
      requests: Object.fromEntries(
        Array.from(requests, ([, outcome = '', count]): [string, number] => [outcome, Number(count)]),
      ),
      retries: number('millrace_outbound_retries_total'),
      timed: number('millrace_outbound_request_duration_seconds_count'),
    };
  }

  const body = { request_id: 'r', candidates: ['a', 'b', 'c'].map((product_id) => ({ product_id })) };
  const fallback = { a: 1, b: 2, c: 5 };

  it('score the candidates; one without an input gets the fallback', async () => {
    const { rank } = await start('on_error: fail');
    expect(scoresOf(await rank(body))).to.deep.equal({ a: 4, b: 3, c: 5 });
    expect(server.requests.at(-1)?.headers.authorization).to.equal('Bearer none');
  });

  for (const [name, behaviour] of Object.entries(FAULTS)) {
    it(`follow on_error if the server ${name}`, async () => {
      const skipping = await start('on_error: skip');
      server.behaviours = [behaviour];
      const { ranked, report } = await skipping.run(body);
      expect(scoresOf(ranked), 'skip').to.deep.equal(fallback);
      expect(report.skippedSteps).to.deep.equal(['deep']);
      server.behaviours = [sum];
      expect(scoresOf(await skipping.rank(body)), 'the next request').to.deep.equal({ a: 4, b: 3, c: 5 });
      await skipping.close();

      const failing = await start('on_error: fail');
      server.behaviours = [behaviour];
      const error: unknown = await failing.rank(body).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(MillraceError).with.property('code', 'component_failed');
    });
  }

  it('end with the deadline of the request', async () => {
    const { rank } = await start('on_error: skip', '40ms');
    server.behaviours = [FAULTS['never answers'] ?? sum];
    const error: unknown = await rank(body).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(MillraceError).with.property('code', 'deadline_exceeded');
  });

  it('are not called while their server hangs, and are called again once it responds', async () => {
    const { rank, app } = await start('on_error: skip');
    server.behaviours = [FAULTS['never answers'] ?? sum];
    const refused = async (): Promise<boolean> => {
      expect(scoresOf(await rank(body))).to.deep.equal(fallback);
      return JSON.stringify(await counted({ app })).includes('circuit_open');
    };
    while (!(await refused()));
    server.behaviours = [sum];
    while (scoresOf(await rank(body))['a'] !== 4) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it('let the service start while their server is down', async () => {
    const { url } = server;
    await server.close();
    project = await startProject(files(remote(url, 'on_error: skip')), {
      env: { MILLRACE_MODEL_HOSTS: '127.0.0.1' },
    });
    const [warning, ...others] = project.app.warnings;
    expect(others).to.deep.equal([]);
    expect(warning).to.include({ severity: 'warning', code: 'component_warning' });
    expect(warning?.at.file.position(warning.at.start)).to.include({ line: 7, column: 10 });
    expect(warning?.message).to.include('ECONNREFUSED');
    await project.upload('product', { product_id: 'a', price: 3, rating: 1 });
    expect(scoresOf(await project.rank(body))).to.deep.equal({ a: 1, b: 0, c: 0 });
    expect(await counted(project)).to.deep.equal({
      // One request to warm up, and two of the ranking.
      requests: { unreachable: 3 },
      retries: 1,
      timed: 3,
    });
    server = await startInferenceServer();
  });

  it('are counted by step and outcome', async () => {
    const { rank, app } = await start('on_error: skip');
    const {
      'never answers': silent = sum,
      'answers 500': failing = sum,
      'does not speak HTTP': closing = sum,
    } = FAULTS;
    for (const behaviours of [[sum], [failing], [closing, sum], [silent]]) {
      server.behaviours = behaviours;
      await rank(body);
    }
    expect(await counted({ app })).to.deep.equal({
      // Two of the 2xx responses are metadata requests of the warm-up.
      requests: { '2xx': 4, '5xx': 1, closed: 1, timeout: 1 },
      retries: 1,
      timed: 7,
    });
  });

  async function messageOf(step: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    try {
      project = await startProject(files(step), { env });
    } catch (error) {
      if (error instanceof ProjectInvalidError)
        return renderDiagnostics(error.diagnostics, { color: false, width: 1000 });
      throw error;
    }
    return expect.fail('the project was accepted');
  }

  it('are called only on hosts that the operator allowed', async () => {
    const message = await messageOf(remote(server.url, 'on_error: fail'));
    expect(message).to.include('pipelines/ranking.yaml:11:12');
    expect(message).to.include(`MILLRACE_MODEL_HOSTS=127.0.0.1:${server.port}`);
    expect(server.requests).to.be.empty;
  });

  it('must match the metadata of their server, or the project does not start', async () => {
    server.metadata = { inputs: [{ name: 'features', datatype: 'FP32', shape: [-1, 3] }] };
    const env = { MILLRACE_MODEL_HOSTS: '127.0.0.1' };
    const message = await messageOf(remote(server.url, 'on_error: fail'), env);
    expect(message).to.include("the model's input features is [?, 3], and the step sends [?, 2]");
    expect(message).to.include('pipelines/ranking.yaml:7:10');
  });
});
