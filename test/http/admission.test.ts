import { expect } from 'chai';
import { Admission } from '../../runtime/serve/http/admission/admission.js';
import { AdmissionMetrics } from '../../runtime/serve/metrics/admission-metrics.js';
import { HttpMetrics } from '../../runtime/serve/metrics/http-metrics.js';
import type { RequestContext } from '../../runtime/request/pipeline/types.js';
import { rawClient } from '../support/raw-client.js';
import { ANSWER, call, post, REPORT, start, type Fakes, type Running } from './harness.js';

const RANKING = '/api/v1/ranking';
const UPLOAD = '/api/v1/entities/upload';
const HEAD = `POST ${RANKING} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
const MB = 1024 * 1024;
const DONE = { answer: ANSWER, report: REPORT };

describe('admission', () => {
  let app: Running;
  afterEach(() => app.close());

  /** An app with room for so many requests, whose rankings wait for `release`. */
  async function startFull(maxInFlight: number, over: Fakes = {}): Promise<{ release: () => void }> {
    const gate = deferred();
    const metrics = new HttpMetrics();
    const counts = new AdmissionMetrics(metrics.registry);
    const admission = new Admission({ maxInFlight }, counts);
    counts.watch(admission);
    const run = async (): Promise<typeof DONE> => {
      await gate.promise;
      return DONE;
    };
    app = await start({ metrics, admission, pipelines: [{ run }], ...over });
    return { release: gate.resolve };
  }

  /** Sends rankings and waits until they are in flight. */
  async function hold(count: number): Promise<Promise<{ status: number }>[]> {
    const held = Array.from({ length: count }, () => post(app.url + RANKING, {}));
    await untilMetric(new RegExp(`^millrace_requests_in_flight\\{class="ranking"\\} ${count}$`, 'm'));
    return held;
  }

  async function untilMetric(pattern: RegExp): Promise<void> {
    while (!pattern.test((await call(`${app.url}/metrics`)).text)) await pause(5);
  }

  it('refuses beyond MILLRACE_MAX_IN_FLIGHT with a problem document, and answers health', async () => {
    const { release } = await startFull(2);
    const held = await hold(2);
    const answer = await post(app.url + RANKING, {}, { 'x-request-id': 'a "quoted" id' });
    expect([answer.status, answer.json?.code]).to.deep.equal([503, 'overloaded']);
    expect(answer.headers.get('retry-after')).to.equal('1');
    expect(answer.headers.get('content-type')).to.equal('application/problem+json');
    expect(answer.headers.get('x-request-id')).to.equal('a "quoted" id');
    expect(answer.json?.request_id).to.equal('a "quoted" id');
    for (const path of ['/healthz', '/readyz']) expect((await call(app.url + path)).status).to.equal(200);
    const { text } = await call(`${app.url}/metrics`);
    expect(text).to.contain('millrace_requests_shed_total{class="ranking",cause="in_flight"} 1');
    expect(text).to.contain(`millrace_http_requests_total{route="${RANKING}",status="503"} 1`);
    release();
    for (const { status } of await Promise.all(held)) expect(status).to.equal(200);
    expect((await post(app.url + RANKING, {})).status).to.equal(200);
  });

  it('refuses uploads before rankings', async () => {
    const { release } = await startFull(10);
    const held = await hold(2); // uploads may use a fifth of the room
    expect((await post(app.url + UPLOAD, {})).json?.code).to.equal('overloaded');
    expect((await post(`${app.url}${RANKING}/explain`, {})).status).to.equal(200);
    held.push(post(app.url + RANKING, {}));
    release();
    await Promise.all(held);
    expect((await post(app.url + UPLOAD, {})).status).to.equal(200);
  });

  it('is read by a client that is still sending 5 MB', async () => {
    const { release } = await startFull(1);
    const held = await hold(1);
    const client = rawClient(app.port);
    client.socket.write(`${HEAD}Content-Length: ${5 * MB}\r\n\r\n`);
    for (let sent = 0; sent < 5 * MB; sent += 64 * 1024) {
      client.socket.write(Buffer.alloc(64 * 1024, 0x20));
      await pause(1);
    }
    const text = await client.until(/"request_id":"[^"]+"\}$/);
    expect(text).to.match(/^HTTP\/1\.1 503 /);
    expect(text).to.match(/^Connection: close\r$/m);
    expect(text).to.contain('"code":"overloaded"');
    expect(await client.closed).to.be.below(10_000);
    release();
    await Promise.all(held);
  });

  it('reads no more than a part of a body after its refusal, on any early answer', async () => {
    await startFull(1);
    const client = rawClient(app.port);
    // 20 MB are above the limit of a ranking: 413, known from the head.
    client.socket.write(`${HEAD}Content-Length: ${20 * MB}\r\n\r\n`);
    let taken = 0;
    for (let sent = 0; sent < 20 * MB; sent += MB)
      client.socket.write(Buffer.alloc(MB, 0x20), (error) => (taken += error ? 0 : MB));
    const text = await client.until(/\}$/);
    expect(text).to.match(/^HTTP\/1\.1 413 /);
    expect(text).to.contain('"code":"body_too_large"');
    await client.closed;
    // What the buffers of the system hold is sent too.
    expect(taken).to.be.below(15 * MB);
  });

  it('keeps the connection after the refusal of a small body', async () => {
    const { release } = await startFull(1);
    const held = await hold(1);
    const client = rawClient(app.port);
    client.socket.write(`${HEAD}Content-Length: 1000\r\n\r\n`);
    await client.until(/"request_id":"[^"]+"\}$/);
    client.socket.write(Buffer.alloc(1000, 0x20));
    release();
    await Promise.all(held);
    client.socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
    const text = await client.until(/HTTP\/1\.1 200 OK/);
    expect(text).to.match(/^HTTP\/1\.1 503 [^]*HTTP\/1\.1 200 OK/);
    client.socket.destroy();
  });

  it('closes a connection with the ninth refusal in a row', async () => {
    const { release } = await startFull(1);
    const held = await hold(1);
    const client = rawClient(app.port);
    for (let sent = 1; sent <= 9; sent++) {
      client.socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
      const text = await client.until(new RegExp(`^(?:[^]*?"request_id":"[^"]+"\\}){${sent}}$`));
      expect(/^Connection: close\r$/m.test(text), `refusal ${sent}`).to.equal(sent === 9);
    }
    await client.closed;
    release();
    await Promise.all(held);
  });

  it('drops new connections during a storm, but not those of operators', async () => {
    let isStorm = false;
    let dropped = 0;
    const admission = {
      connectionAccepted: () => undefined,
      connectionDropped: () => dropped++,
      isStorm: () => isStorm,
    };
    const closed: string[] = [];
    for (const acceptsAll of [false, true]) {
      app = await start({}, { admission, acceptsAll, closed: (why) => closed.push(why) });
      isStorm = true;
      const first = rawClient(app.port);
      first.socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
      await first.until(/^HTTP\/1\.1 200 /);
      const second = rawClient(app.port);
      second.socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
      if (acceptsAll) await second.until(/^HTTP\/1\.1 200 /);
      else {
        await second.closed;
        isStorm = false;
        const third = rawClient(app.port);
        third.socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
        await third.until(/^HTTP\/1\.1 200 /);
        await app.close();
      }
    }
    expect([dropped, ...closed]).to.deep.equal([1, 'storm']);
  });

  it('refuses without 100 Continue', async () => {
    const { release } = await startFull(1);
    const held = await hold(1);
    const refused = rawClient(app.port);
    refused.socket.write(`${HEAD}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n`);
    const text = await refused.until(/\}$/);
    expect(text).to.match(/^HTTP\/1\.1 503 /);
    expect(text).not.to.contain('100 Continue');
    release();
    await Promise.all(held);
    const large = rawClient(app.port);
    large.socket.write(`${HEAD}Content-Length: ${20 * MB}\r\nExpect: 100-continue\r\n\r\n`);
    expect(await large.until(/\}$/)).to.match(/^HTTP\/1\.1 413 /);
    await Promise.all([refused.closed, large.closed]);
  });

  it('counts the time limit from the head, and answers a body that is late', async () => {
    const contexts: RequestContext[] = [];
    app = await start({
      pipelines: [
        {
          limitMs: 400,
          run: (_body, context) => {
            contexts.push(context);
            return Promise.resolve(DONE);
          },
        },
      ],
    });
    const inTime = rawClient(app.port);
    const sent = performance.now();
    inTime.socket.write(`${HEAD}Content-Length: 2\r\n\r\n`);
    await pause(100);
    inTime.socket.write('{}');
    await inTime.until(/\}$/);
    expect(contexts[0]?.deadline?.started).to.be.below(sent + 100);

    const late = rawClient(app.port);
    late.socket.write(`${HEAD}Content-Length: 2\r\n\r\n`);
    expect(await late.until(/\}$/)).to.match(/^HTTP\/1\.1 503 [^]*"code":"deadline_exceeded"/);
    late.socket.write('{}');
    late.socket.end(`${HEAD}Content-Length: 2\r\n\r\n{}`);
    await late.until(/HTTP\/1\.1 200 OK/);
    expect(contexts).to.have.length(2);
    inTime.socket.destroy();
  });

  it('answers an upload that does not end within MILLRACE_REQUEST_MS', async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    app = await start({
      entities: { upload: never, update: never, get: never, remove: never },
      times: { requestMs: 50 },
    });
    for (const path of [
      UPLOAD,
      '/api/v1/entities/update',
      '/api/v1/entities/get',
      '/api/v1/entities/delete',
    ]) {
      const answer = await post(app.url + path, {});
      expect([answer.status, answer.json?.code]).to.deep.equal([503, 'deadline_exceeded']);
    }
  });

  it('works on requests one after the other, and refuses those that would be late', async () => {
    let begun = 0;
    app = await start({
      pipelines: [
        {
          limitMs: 500,
          run: () => {
            begun++;
            for (const end = performance.now() + 20; performance.now() < end;);
            return Promise.resolve(DONE);
          },
        },
      ],
    });
    const answers = await Promise.all(
      Array.from({ length: 150 }, () => {
        const client = rawClient(app.port);
        client.socket.write(`${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`);
        return client.until(/\}$/);
      }),
    );
    const statuses = answers.map((text) => text.slice(9, 12));
    expect(new Set(statuses)).to.deep.equal(new Set(['200', '503']));
    expect(begun).to.equal(statuses.filter((status) => status === '200').length);
    for (const text of answers.filter((one) => one.startsWith('HTTP/1.1 503')))
      expect(text).to.match(/"code":"(?:overloaded|deadline_exceeded)"/);
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
