import { expect } from 'chai';
import type { ModelComponent } from '../../../runtime/ground/api/component.js';
import type { Input } from '../../../runtime/ground/api/input.js';
import { Status } from '../../../runtime/ground/api/status.js';
import { AllowedHosts } from '../../../runtime/project/settings/allowed-hosts.js';
import { httpConnector } from '../../../runtime/language/outbound/http-connector.js';
import { plugin } from '../../../plugins/open_inference/index.js';
import { createComponent, NO_NOTICES } from '../../support/create-component.js';
import {
  FAULTS,
  json,
  startInferenceServer,
  sum,
  type InferenceServer,
} from '../../support/inference-server.js';
import { absent, compute, FakeStep } from '../../support/step-input.js';

describe('open_inference', () => {
  let server: InferenceServer;
  let models: ModelComponent[];

  beforeEach(async () => {
    server = await startInferenceServer();
    models = [];
  });

  afterEach(async () => {
    await Promise.all(models.map(async (one) => one.close?.()));
    await server.close();
  });

  async function model(inputs: object, options: object = {}): Promise<ModelComponent> {
    const allowed = AllowedHosts.parse(`127.0.0.1:${server.port}`);
    if (allowed === undefined) throw new Error('the host can be allowed');
    const caller = { pipeline: 'ranking', step: 'deep' };
    const defaults = { batch: 256, connections: 8, max_bytes: 100_000, check: 'reachable', timeout: '10s' };
    const all = { url: server.url, model: 'sum', ...defaults, inputs, ...options };
    const built = (await createComponent(
      plugin,
      all,
      undefined,
      httpConnector(allowed)(caller),
    )) as ModelComponent;
    models.push(built);
    return built;
  }

  const faultOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => expect.fail('it went well'),
      (error: unknown) => (error as Error).message,
    );
  const numbers = (step: FakeStep): Input => step.number([1, 2, 3]);

  it('describes the fault of an answer that is nested deeply', async () => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const answers: readonly (readonly [part: object, message: string])[] = [
      [{ datatype: 'X' }, 'output sum has the datatype [[…]]'],
      [{ shape: 'X' }, 'output sum has [[…]] instead of a shape'],
      [{ data: ['X'], shape: [1] }, 'output sum holds [[…]] instead of a number'],
    ];
    for (const [part, message] of answers) {
      const output = { name: 'sum', datatype: 'FP64', shape: [3], data: [1, 2, 3], ...part };
      const text = JSON.stringify({ outputs: [output] }).replace('"X"', deep);
      server.behaviours = [
        (answer) => answer.writeHead(200, { 'content-type': 'application/json' }).end(text),
      ];
      const step = new FakeStep(3);
      const built = await model({ features: numbers(step) }, { outputs: { score: 'sum' } });
      expect(await faultOf(compute(built, step))).to.include(message);
    }
  });

  it('sends tensors in the form of the protocol, and reads one number of each row', async () => {
    const step = new FakeStep(3);
    const built = await model(
      {
        features: [
          step.number([1, 2, 3]),
          step.vector(
            [
              [0.5, 1],
              [0, 0],
              [1, 1],
            ],
            2,
          ),
        ],
        clicks: { value: step.number([7, 8, 9]), datatype: 'INT64', shape: [] },
        known: { value: step.bool([true, false, true]), datatype: 'BOOL' },
        user: { value: step.requestVector([1, 2], 2), per: 'request' },
        title: step.text(['a', 'bc', '']),
      },
      { outputs: { score: 'sum' }, version: '3', headers: { Authorization: 'Bearer secret' } },
    );
    expect(await compute(built, step)).to.deep.equal({ score: [14.5, 15, 18] });
    expect(server.requests[0]?.url).to.equal('/v2/models/sum/versions/3/infer');
    expect(server.requests[0]?.headers['authorization']).to.equal('Bearer secret');
    expect(JSON.parse(server.bodies[0] ?? '')).to.deep.equal({
      inputs: [
        { name: 'features', shape: [3, 3], datatype: 'FP32', data: [1, 0.5, 1, 2, 0, 0, 3, 1, 1] },
        { name: 'clicks', shape: [3], datatype: 'INT64', data: [7, 8, 9] },
        { name: 'known', shape: [3, 1], datatype: 'BOOL', data: [true, false, true] },
        { name: 'user', shape: [1, 2], datatype: 'FP32', data: [1, 2] },
        { name: 'title', shape: [3, 1], datatype: 'BYTES', data: ['a', 'bc', ''] },
      ],
      outputs: [{ name: 'sum' }],
    });
    expect(built.version).to.equal('3');
  });

  it('does not score a candidate that lacks a value, unless there is a replacement', async () => {
    const step = new FakeStep(4, [0, 1, 3]);
    const price = step.number([1, { status: Status.expired }, 3, 4]);
    const built = await model({
      x: price,
      y: { value: step.number([1, 1, 1, absent]), missing: -1 },
      z: { value: step.number([1, 1, 1, 2]), datatype: 'UINT8' },
    });
    expect(await compute(built, step)).to.deep.equal({ score: [3, { status: Status.expired }, absent, 5] });
    const whole = await model({ z: { value: step.number([1.5, -1, 3, 256]), datatype: 'UINT8' } });
    const failed = { status: Status.failed };
    expect(await compute(whole, step)).to.deep.equal({ score: [failed, failed, absent, failed] });
    expect(server.bodies, 'a batch of nobody is not sent').to.have.length(1);
  });

  it('splits many candidates into calls that share the connections', async () => {
    const step = new FakeStep(100);
    const cells = Array.from({ length: 100 }, (_, row) => row);
    const built = await model({ x: step.number(cells) }, { batch: 7, connections: 3 });
    server.behaviours = [
      (answer, body, request) => {
        setTimeout(() => sum(answer, body, request), 2);
      },
    ];
    expect((await compute(built, step))['score']).to.deep.equal(cells);
    expect(server.bodies).to.have.length(15);
    expect(server.mostOpen).to.equal(3);
  });

  it('sends ordinary texts of many candidates, and says how long they may be together', async () => {
    const step = new FakeStep(1000);
    const texts = (length: number): Input =>
      step.text(Array.from({ length: 1000 }, () => 'x'.repeat(length)));
    const numbers = step.number(Array.from({ length: 1000 }, (_, row) => row));
    const built = await model({ x: numbers, text: { value: texts(4000), datatype: 'BYTES' } });
    expect((await compute(built, step))['score']).to.have.length(1000);
    const sent = server.bodies.length;
    const long = await model({ x: numbers, text: { value: texts(4200), datatype: 'BYTES' } });
    expect(await faultOf(compute(long, step))).to.equal(
      'the texts of the inputs have 4,200,000 characters, and at most 4,194,304 are sent for a request; send fewer candidates or shorter texts',
    );
    expect(server.bodies).to.have.length(sent);
  });

  const ONCE_MORE = /closes|HTTP/;
  for (const [name, behaviour] of Object.entries(FAULTS)) {
    it(`fails if the server ${name}, and leaves no stuck connection`, async () => {
      const step = new FakeStep(3);
      const stuck = /never|drips/.test(name);
      const built = await model(
        { x: numbers(step) },
        { outputs: { score: 'sum' }, timeout: stuck ? '60ms' : '10s' },
      );
      server.behaviours = [behaviour];
      expect(await faultOf(compute(built, step))).to.match(
        /did not answer within|answered (500|302|with)|not JSON|output|closed|reset|Parse|127\.0\.0\.1/,
      );
      expect(server.bodies).to.have.length(ONCE_MORE.test(name) ? 2 : 1);
      server.behaviours = [sum];
      expect(await compute(built, step), 'the next call').to.deep.equal({ score: [1, 2, 3] });
      await built.close?.();
      models = [];
      while (server.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    });
  }

  it('describes the fault of an answer briefly, whatever the size of the answer', async () => {
    const step = new FakeStep(3);
    const built = await model({ x: numbers(step) });
    const long = { name: 'n'.repeat(5000), datatype: 'FP32', shape: [2], data: [1] };
    const deep = { name: 'sum', datatype: 'FP32', shape: new Array<number>(5000).fill(1), data: [1, 2] };
    for (const outputs of [[long], [deep]]) {
      server.behaviours = [(answer) => json(answer, { outputs })];
      expect((await faultOf(compute(built, step))).length).to.be.below(200);
    }
  });

  it('retries once after a lost connection and after a 503, and after nothing else', async () => {
    const step = new FakeStep(3);
    const lost = FAULTS['closes the socket'] ?? sum;
    const busy: typeof sum = (answer) => answer.writeHead(503).end();
    for (const first of [lost, busy]) {
      const built = await model({ x: numbers(step) });
      server.behaviours = [first, sum];
      expect(await compute(built, step)).to.deep.equal({ score: [1, 2, 3] });
      server.behaviours = [first, first, sum];
      expect(await faultOf(compute(built, step))).to.match(/closed|503|127\.0\.0\.1/);
    }
  });

  it('ends with the request', async () => {
    const step = new FakeStep(3);
    const controller = new AbortController();
    Object.assign(step, { signal: controller.signal });
    const built = await model({ x: numbers(step) });
    server.behaviours = [
      () => {
        controller.abort(new Error('the deadline is over'));
      },
    ];
    expect(await faultOf(compute(built, step))).to.equal('the deadline is over');
    await built.close?.();
    models = [];
    while (server.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('fails if nothing listens', async () => {
    const step = new FakeStep(3);
    const built = await model({ x: numbers(step) });
    await server.close();
    expect(await faultOf(compute(built, step))).to.include('ECONNREFUSED');
    await built.warm?.(NO_NOTICES);
    await built.close?.();
    models = [];
    server = await startInferenceServer();
  });

  describe('before it serves', () => {
    const metadata = (input: object, output: object = {}): object => ({
      name: 'sum',
      inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 1], ...input }],
      outputs: [{ name: 'sum', datatype: 'FP32', shape: [-1, 1], ...output }],
    });

    it('compares the step with the metadata of the server', async () => {
      const step = new FakeStep(3);
      const built = await model({ x: numbers(step) }, { outputs: { score: 'sum' } });
      server.metadata = metadata({});
      await built.warm?.(NO_NOTICES);
      server.metadata = { name: 'sum' };
      await built.warm?.(NO_NOTICES);
      const mistakes: readonly (readonly [metadata: object | undefined, message: string])[] = [
        [metadata({ name: 'y' }), 'the model has no input x; it has y'],
        [metadata({ datatype: 'INT64' }), 'write datatype: INT64'],
        [metadata({ shape: [-1] }), 'is [?], and the step sends [?, 1]'],
        [metadata({ shape: [-1, 40] }), 'shape: [40]'],
        [metadata({ shape: [8, 1] }), 'is [8, 1]'],
        [metadata({}, { name: 'other' }), 'the model has no output sum; it has other'],
        [metadata({}, { datatype: 'BYTES' }), 'is BYTES, not numbers'],
        [
          {
            inputs: [
              ...(metadata({}) as { inputs: object[] }).inputs,
              { name: 'z', datatype: 'FP32', shape: [] },
            ],
          },
          "lacks the model's z",
        ],
        [undefined, 'answered 404: no such model'],
      ];
      for (const [said, message] of mistakes) {
        server.metadata = said;
        expect(await faultOf(Promise.resolve(built.warm?.(NO_NOTICES)))).to.include(message);
      }
    });

    it('accepts a server that is down unless it is required', async () => {
      const step = new FakeStep(3);
      server.ready = false;
      const warnings: string[] = [];
      const notices = { warn: (message: string) => void warnings.push(message) };
      await (await model({ x: numbers(step) })).warm?.(notices);
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include(
        'is not ready, so the model is not checked and calls fail: the model server answered 503',
      );
      await (await model({ x: numbers(step) }, { check: 'off' })).warm?.(notices);
      expect(warnings).to.have.length(1);
      const required = await model({ x: numbers(step) }, { check: 'required' });
      expect(await faultOf(Promise.resolve(required.warm?.(NO_NOTICES)))).to.include('503');
    });
  });

  it('refuses invalid options at their place', async () => {
    const step = new FakeStep(3);
    const x = numbers(step);
    const mistakes: readonly (readonly [options: object, path: readonly string[], message: string])[] = [
      [{ url: 'http://metadata.internal' }, ['url'], 'MILLRACE_MODEL_HOSTS=metadata.internal:80'],
      [{ url: server.url.replace('127.0.0.1', 'localhost') }, ['url'], 'is not allowed'],
      [{ url: 'ftp://127.0.0.1' }, ['url'], 'use http: or https:'],
      [{ url: 'models:8080/x y' }, ['url'], 'use http: or https:'],
      [{ url: server.url.replace('//', '//user:password@') }, ['url'], 'must not contain a user'],
      [{ timeout: 'soon' }, ['timeout'], 'is not a time'],
      [{ headers: { 'X-A': 'a\nb' } }, ['headers', 'X-A'], 'characters'],
      [{ model: '..' }, ['model'], '`..` cannot be a name in the path of a URL'],
      [{ version: '.' }, ['version'], '`.` cannot be a name in the path of a URL'],
      [
        { headers: { 'Content-Length': '1' } },
        ['headers', 'Content-Length'],
        'not a header that an option can set',
      ],
      [{ headers: { 'a b': '1' } }, ['headers', 'a b'], 'not the name of a header'],
      [{ inputs: { x: step.texts([['a'], [], []]) } }, ['inputs', 'x'], 'is a list of texts'],
      [{ inputs: { x: { value: x, datatype: 'BYTES' } } }, ['inputs', 'x'], 'is a number'],
      [{ inputs: { x: { value: [x, x], shape: [3] } } }, ['inputs', 'x'], 'a row of `inputs` has 2 elements'],
      [{ inputs: { x: { value: x, per: 'request' } } }, ['inputs', 'x'], 'reads values of the candidates'],
      [
        { inputs: { x: { value: x, missing: 'none' } } },
        ['inputs', 'x', 'missing'],
        'and "none" does not fit',
      ],
      [
        { inputs: { x: { value: step.requestNumber(1), per: 'request' } } },
        ['inputs'],
        'a row for each candidate',
      ],
    ];
    for (const [options, path, message] of mistakes) {
      const error: unknown = await model({ x }, options).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('message').that.includes(message);
      expect(error).to.have.deep.property('path', path);
    }
  });
});
