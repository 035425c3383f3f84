import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { pino } from 'pino';
import { TlsFiles, type TlsSettings } from '../../runtime/serve/http/tls-files.js';
import { makeCertificates } from '../support/certificates.js';
import { withFiles } from '../support/temporary-files.js';
import { ANSWER, REPORT, start, type Running } from './harness.js';
import { describeWith } from '../support/needs.js';
import type { ListenOptions } from '../../runtime/serve/http/listen.js';

const RANKING = '/api/v1/ranking';
const HEAD = `POST ${RANKING} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;

describeWith('openssl', 'TLS', () => {
  let root: string;
  let release: () => void;
  let removed: Promise<void>;
  before(async () => {
    await new Promise<void>((ready, failed) => {
      removed = withFiles({}, async (folder) => {
        root = folder;
        await makeCertificates(file);
        ready();
        await new Promise<void>((resolve) => (release = resolve));
      });
      removed.catch(failed);
    });
  });
  after(async () => {
    release();
    await removed;
  });

  const file = (name: string): string => join(root, name);
  const settings = (over: Partial<TlsSettings> = {}): TlsSettings => ({
    tlsCert: file('server.pem'),
    tlsKey: file('server.key'),
    tlsClientCa: '',
    ...over,
  });

  let app: Running | undefined;
  let tls: TlsFiles | undefined;
  let lines: string[] = [];
  afterEach(async () => {
    tls?.close();
    await app?.close();
    app = undefined;
  });

  async function serve(
    over: Partial<TlsSettings> = {},
    options: ListenOptions = {},
    pollMs = 20,
  ): Promise<Running> {
    lines = [];
    const logger = pino({ level: 'info' }, { write: (line) => lines.push(line) });
    tls = await TlsFiles.open(settings(over), logger, pollMs);
    return (app = await start({}, { tls, ...options }));
  }

  const ca = (): Promise<string> => readFile(file('ca.pem'), 'utf8');

  async function client(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connect({ port, host: '127.0.0.1', ca: await ca(), ...options });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  }

  async function post(port: number, body = '{}'): Promise<{ status: number | undefined; serial: string }> {
    const trusted = await ca();
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const options = {
        port,
        host: '127.0.0.1',
        path: RANKING,
        method: 'POST',
        ca: trusted,
        agent: false,
        headers,
      };
      const sent = request(options, (response) => {
        const { serialNumber: serial } = (response.socket as unknown as Peer).getPeerCertificate();
        response.resume().once('end', () => resolve({ status: response.statusCode, serial }));
      });
      sent.once('error', reject);
      sent.end(body);
    });
  }

  it('answers requests, and nothing in plain text', async () => {
    const { port } = await serve();
    expect((await post(port)).status).to.equal(200);
    const plain = connectPlain(port, '127.0.0.1');
    plain.on('error', () => undefined);
    let text = '';
    plain.on('data', (chunk) => (text += String(chunk)));
    plain.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(plain, 'close');
    expect(text).not.to.contain('OK');
  });

  it('refuses versions before 1.2', async () => {
    const { port } = await serve();
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await client(port, { minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).to.equal(version);
      socket.destroy();
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const socket = connect({ port, host: '127.0.0.1', ca: await ca(), ...old });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).to.match(/protocol version|unsupported protocol/);
  });

  it('asks clients for a certificate of MILLRACE_TLS_CLIENT_CA', async () => {
    const { port } = await serve({ tlsClientCa: file('ca.pem') });
    const error = await post(port).catch((thrown: unknown) => thrown);
    expect((error as NodeJS.ErrnoException).code).to.match(
      /^(ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED|ECONNRESET)$/,
    );
    const socket = await client(port, {
      cert: await readFile(file('client.pem')),
      key: await readFile(file('client.key')),
    });
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('loads a changed pair without a restart, and keeps the previous one while the files do not fit', async () => {
    await copyFile(file('server.pem'), file('live.pem'));
    await copyFile(file('server.key'), file('live.key'));
    const { port } = await serve({ tlsCert: file('live.pem'), tlsKey: file('live.key') });
    const open = await client(port);
    const { serial: first } = await post(port);
    await writeFile(file('live.pem'), 'damaged');
    await untilLogged(/"reason":"MILLRACE_TLS_CERT is [^"]*live\.pem; this file holds no certificate/);
    expect((await post(port)).serial).to.equal(first);
    // The certificate of the client also stands for a new one: the same CA signed it.
    await copyFile(file('client.pem'), file('live.pem'));
    await untilLogged(
      /"reason":"MILLRACE_TLS_KEY is [^"]*live\.key; this file does not belong to the certificate/,
    );
    expect((await post(port)).serial).to.equal(first);
    await copyFile(file('client.key'), file('live.key'));
    await untilLogged(/the changed TLS certificate is in service/);
    const socket = connect({ port, host: '127.0.0.1', ca: await ca(), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    expect(socket.getPeerCertificate().subject.CN).to.equal('client');
    expect(socket.getPeerCertificate().serialNumber).not.to.equal(first);
    socket.destroy();
    // Connections from before stay open.
    open.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [answer] = (await once(open, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 200 /);
    open.destroy();
    expect(lines.filter((line) => line.includes('"level":50'))).to.have.length(2);
  });

  async function untilLogged(pattern: RegExp): Promise<void> {
    while (!lines.some((line) => pattern.test(line))) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  for (const [what, over, message] of [
    [
      'no key',
      { tlsKey: '' },
      'TLS needs MILLRACE_TLS_CERT and MILLRACE_TLS_KEY; MILLRACE_TLS_KEY is not set',
    ],
    ['a CA for clients alone', { tlsKey: '', tlsCert: '' }, 'MILLRACE_TLS_CERT is not set'],
    ['a missing file', { tlsCert: 'none.pem' }, 'MILLRACE_TLS_CERT is none.pem; this file does not exist'],
    ['a folder', { tlsKey: '/' }, 'MILLRACE_TLS_KEY is /; this file cannot be read (EISDIR)'],
    [
      'a certificate as the key',
      { tlsKey: 'server.pem' },
      'server.pem; this file holds no private key in PEM form',
    ],
    [
      'a key as the certificate',
      { tlsCert: 'server.key' },
      'server.key; this file holds no certificate in PEM form',
    ],
    ['the key of another certificate', { tlsKey: 'client.key' }, 'does not belong to the certificate in'],
    ['a CA that is none', { tlsClientCa: 'server.key' }, 'MILLRACE_TLS_CLIENT_CA is'],
  ] as const) {
    it(`says at the start that there is ${what}`, async () => {
      const placed = Object.fromEntries(
        Object.entries(over).map(([name, path]) => [name, /^(client|server)/.test(path) ? file(path) : path]),
      );
      const all = what === 'a CA for clients alone' ? { ...placed, tlsClientCa: file('ca.pem') } : placed;
      const error = await TlsFiles.open(settings(all), pino({ level: 'silent' })).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.have.property('code', 'invalid_setting');
      expect((error as Error).message).to.contain(message);
    });
  }

  describe('keeps the limits of connections', () => {
    it('cuts a handshake that is not finished in time', async () => {
      const { port } = await serve({}, { receiveMs: 100 });
      const socket = connectPlain(port, '127.0.0.1');
      const started = performance.now();
      await once(socket.resume(), 'close');
      expect(performance.now() - started).to.be.within(90, 2000);
    });

    it('cuts a head that does not arrive in time', async () => {
      const { port } = await serve({}, { receiveMs: 100 });
      const socket = await client(port);
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.write('GET /healthz HTTP/1.1\r\nHos');
      await once(socket, 'close');
      expect(text).to.match(/^HTTP\/1\.1 408 /);
    });

    it('cuts a client that does not take its answer', async () => {
      const closed: string[] = [];
      const large = { ranked_candidates: [{ candidate_id: 'x'.repeat(32 * 1024 * 1024), ranked_score: 1 }] };
      const run = (): Promise<never> =>
        Promise.resolve({ answer: large, report: undefined }) as Promise<never>;
      lines = [];
      tls = await TlsFiles.open(settings(), pino({ level: 'silent' }));
      app = await start(
        { entities: { get: () => Promise.resolve(large), upload: run, update: run, remove: run } },
        { tls, stallMs: 200, closed: (why) => closed.push(why) },
      );
      const socket = await client(app.port);
      socket.write(HEAD.replace(RANKING, '/api/v1/entities/get') + 'Content-Length: 2\r\n\r\n{}');
      await once(socket, 'readable');
      socket.pause();
      while (closed.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(closed).to.deep.equal(['stalled']);
      socket.destroy();
    });

    it('counts connections from before their handshake, and closes the longest idle one', async () => {
      const closed: string[] = [];
      const { port } = await serve({}, { maxConnections: 2, closed: (why) => closed.push(why) });
      const silent = connectPlain(port, '127.0.0.1');
      silent.on('error', () => undefined);
      await once(silent, 'connect');
      const silentClosed = once(silent.resume(), 'close');
      const used = await client(port);
      used.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
      await once(used, 'data');
      const usedClosed = once(used, 'close');
      const third = await client(port);
      await silentClosed;
      expect(closed).to.deep.equal(['idle']);
      const fourth = await client(port);
      // The connection that answered a request is idle again, and the longest.
      await usedClosed;
      expect(closed).to.deep.equal(['idle', 'idle']);
      third.destroy();
      fourth.destroy();
    });

    it('answers what is in flight before it closes, and drops handshakes', async () => {
      const begun = deferred();
      const gate = deferred();
      tls = await TlsFiles.open(settings(), pino({ level: 'silent' }));
      const run = async (): Promise<{ answer: typeof ANSWER; report: typeof REPORT }> => {
        begun.resolve();
        await gate.promise;
        return { answer: ANSWER, report: REPORT };
      };
      const server = await start({ pipelines: [{ run }] }, { tls });
      const handshake = connectPlain(server.port, '127.0.0.1');
      handshake.on('error', () => undefined);
      await once(handshake, 'connect');
      const dropped = once(handshake.resume(), 'close');
      const answer = post(server.port);
      await begun.promise;
      const idle = await client(server.port);
      const ended = once(idle.resume(), 'close');
      const closing = server.close(5000);
      gate.resolve();
      expect((await answer).status).to.equal(200);
      await Promise.all([closing, dropped, ended]);
    });
  });
});

/** What the tests read of a TLS socket. */
interface Peer {
  getPeerCertificate(): { readonly serialNumber: string };
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}
