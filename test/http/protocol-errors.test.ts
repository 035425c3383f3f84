import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { listen } from '../../runtime/serve/http/listen.js';
import { startService } from '../../runtime/serve/app/serve.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { withFiles } from '../support/temporary-files.js';
import { ANSWER, call, REPORT, start, type Running } from './harness.js';

const HOST = 'Host: millrace\r\n';
const POST = `POST /api/v1/ranking HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;
const HEALTH = `GET /healthz HTTP/1.1\r\n${HOST}\r\n`;

describe('what is no request of HTTP', () => {
  let app: Running;

  beforeEach(async () => {
    app = await start();
  });

  afterEach(async () => {
    await app.close();
  });

  const refused: readonly {
    readonly what: string;
    readonly sent: string;
    readonly status: string;
    readonly code: string;
  }[] = [
    { what: 'no HTTP', sent: 'HELO there\r\n\r\n', status: '400 Bad Request', code: 'malformed_request' },
    {
      what: 'a bad header',
      sent: `GET / HTTP/1.1\r\nHost : a\r\n\r\n`,
      status: '400 Bad Request',
      code: 'malformed_request',
    },
    {
      what: 'two lengths (request smuggling)',
      sent: `${POST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      status: '400 Bad Request',
      code: 'malformed_request',
    },
    {
      what: 'too many headers',
      sent: `GET / HTTP/1.1\r\n${HOST}X-Long: ${'x'.repeat(40_000)}\r\n\r\n`,
      status: '431 Request Header Fields Too Large',
      code: 'headers_too_large',
    },
    {
      what: 'no Host',
      sent: 'GET /healthz HTTP/1.1\r\n\r\n',
      status: '400 Bad Request',
      code: 'malformed_request',
    },
  ];
  for (const { what, sent, status, code } of refused) {
    it(`answers ${what} as a problem, closes the connection, and counts it`, async () => {
      const answers = answersOf(await exchange(app.port, sent));
      expect(answers).to.have.length(1);
      expect(answers[0]?.status).to.equal(status);
      expect(answers[0]?.head).to.match(/^content-type: application\/problem\+json$/im);
      expect(answers[0]?.head).to.match(/^connection: close$/im);
      const { body } = answers[0] ?? {};
      expect(body).to.include({
        code,
        status: Number(status.slice(0, 3)),
        type: `urn:millrace:problem:${code}`,
      });
      expect(body?.['detail']).to.be.a('string').that.is.not.empty;
      expect(answers[0]?.head).to.contain(`X-Request-Id: ${String(body?.['request_id'])}`);
      const { text } = await call(`${app.url}/metrics`);
      expect(text).to.contain(`millrace_http_requests_total{route="none",status="${status.slice(0, 3)}"} 1`);
    });
  }

  it('counts it in the service as it runs', async () => {
    const files = { 'pipelines/ranking.yaml': 'pipeline: ranking\nrank: product\ncomponents: []\n' };
    await withFiles(files, async (root) => {
      const flags = { project: root, store: 'embedded', dataDir: join(root, 'data') } as const;
      const service = await startService(loadSettings({ LOG_LEVEL: 'silent', PORT: '0' }, flags));
      try {
        await exchange(service.port, 'HELO there\r\n\r\n');
        const { text } = await call(`${service.url}/metrics`);
        expect(text).to.contain('millrace_http_requests_total{route="none",status="400"} 1');
      } finally {
        await service.close();
      }
    });
  });

  it('answers a broken chunk of a body through its own response, counted once at its route', async () => {
    const text = await exchange(app.port, `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{"\r\nzz\r\n`);
    const [answer, ...more] = answersOf(text);
    expect(more).to.deep.equal([]);
    expect(answer?.status).to.equal('400 Bad Request');
    expect(answer?.body).to.include({ code: 'malformed_request' });
    expect(app.calls.bodies).to.deep.equal([]);
    const { text: metrics } = await call(`${app.url}/metrics`);
    expect(metrics).to.contain('millrace_http_requests_total{route="/api/v1/ranking",status="400"} 1');
    expect(metrics).not.to.contain('route="none",status="400"');
    expect(app.log()).not.to.match(/"level":(40|50)/);
  });

  it('leaves an answer that was given before its body broke as it is', async () => {
    const head = `POST /nowhere HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;
    const answers = answersOf(await exchange(app.port, head, 'zz\r\n'));
    expect(answers.map(({ body }) => body['code'])).to.deep.equal(['unknown_route']);
  });

  it('answers what came before on the connection first', async () => {
    const answers = answersOf(await exchange(app.port, `${HEALTH}nonsense\r\n\r\n`));
    expect(answers.map(({ status }) => status)).to.deep.equal(['200 OK', '400 Bad Request']);
  });

  it('waits for a ranking under way on the connection', async () => {
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const slow = await start({
      pipelines: [
        {
          run: async () => {
            setTimeout(go, 20); // long after the nonsense behind it was read
            await gate;
            return { answer: ANSWER, report: REPORT };
          },
        },
      ],
    });
    try {
      const text = await exchange(slow.port, `${POST}Content-Length: 2\r\n\r\n{}nonsense\r\n\r\n`);
      const answers = answersOf(text);
      expect(answers.map(({ status }) => status)).to.deep.equal(['200 OK', '400 Bad Request']);
      expect(answers[0]?.body).to.deep.equal(ANSWER);
    } finally {
      await slow.close();
    }
  });

  it('answers 408 to a request that does not arrive whole, in its head or its body', async () => {
    const statuses: number[] = [];
    const server = await listen(
      (req, res) => void req.resume().once('end', () => res.end()),
      { host: '127.0.0.1', port: 0 },
      { refused: (status) => statuses.push(status), receiveMs: 30 },
    );
    try {
      for (const sent of ['GET / HTTP/1.1\r\nHos', `${POST}Content-Length: 20\r\n\r\n{`]) {
        const [answer] = answersOf(await exchange(server.port, sent));
        expect(answer?.status).to.equal('408 Request Timeout');
        expect(answer?.body).to.include({ code: 'request_timeout' });
      }
      // The second was the app's, which counts its own.
      expect(statuses).to.deep.equal([408]);
    } finally {
      await server.close(0);
    }
  });

  it('answers a client that ends its side in the middle of a body', async () => {
    const socket = connect({ port: app.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(`${POST}Content-Length: 20\r\n\r\n{`);
    let text = '';
    for await (const part of socket.setEncoding('latin1')) text += String(part);
    expect(answersOf(text).map(({ body }) => body['code'])).to.deep.equal(['malformed_request']);
    const { text: metrics } = await call(`${app.url}/metrics`);
    expect(metrics).to.contain('millrace_http_requests_total{route="/api/v1/ranking",status="400"} 1');
  });

  it('answers an attempt to upgrade as the request that it is', async () => {
    // As clients ask for HTTP/2 without TLS.
    const upgrade =
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
    const text = await exchange(app.port, `${POST}${upgrade}Content-Length: 2\r\n\r\n{}`, closing(HEALTH));
    const answers = answersOf(text);
    expect(answers.map(({ status }) => status)).to.deep.equal(['200 OK', '200 OK']);
    expect(answers[0]?.body).to.deep.equal(ANSWER);
    expect(app.calls.bodies).to.deep.equal([{}]);
  });

  it('asks for the body that a client expects to be asked for, and for no more than that', async () => {
    const head = `${POST}Connection: close\r\nContent-Length: 2\r\n`;
    const text = await exchange(app.port, `${head}Expect: 100-continue\r\n\r\n`, '{}');
    expect(text).to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    expect(app.calls.bodies).to.deep.equal([{}]);
    const other = await exchange(app.port, `${head}Expect: a-miracle\r\n\r\n{}`);
    expect(other).to.match(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

function closing(request: string): string {
  return request.replace(HOST, `${HOST}Connection: close\r\n`);
}

/** Sends a text, and after the first answer to it another; gives all that comes until the server ends the connection. */
function exchange(port: number, first: string, second?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let rest = second;
    socket.setEncoding('latin1');
    socket.on('data', (part: string) => {
      text += part;
      if (rest !== undefined) socket.write(rest);
      rest = undefined;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(text));
    socket.write(first);
  });
}

interface RawAnswer {
  readonly status: string;
  readonly head: string;
  readonly body: Readonly<Record<string, unknown>>;
}

function answersOf(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, end);
    const status = /^HTTP\/1\.1 (.*)/.exec(head)?.[1];
    const length = /^content-length: (\d+)$/im.exec(head)?.[1];
    if (status === undefined || length === undefined) throw new Error(`no answer: ${rest}`);
    const body = rest.slice(end + 4, end + 4 + Number(length));
    answers.push({ status, head: head.replaceAll('\r', ''), body: JSON.parse(body) as RawAnswer['body'] });
    rest = rest.slice(end + 4 + Number(length));
  }
  return answers;
}
