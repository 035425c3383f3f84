import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MillraceError } from '../../runtime/api/errors.js';
import { connectRedisStore, type RedisStore } from '../../runtime/store/redis/redis-store.js';
import type { TlsSettings } from '../../runtime/store/redis/target.js';
import { freePort, needRedisServer, startRedisServer, type PrivateRedis } from '../support/redis-server.js';

const QUICK = { openWithin: 600, connectTimeout: 500, longestPause: 50 };

describe('the redis store over TLS', () => {
  let folder: string;
  let server: PrivateRedis;
  let url: string;
  const file = (name: string): string => join(folder, name);

  before(async function () {
    this.timeout(20_000);
    needRedisServer(this);
    folder = await mkdtemp(join(tmpdir(), 'millrace-tls-'));
    await makeCertificates(file);
    const port = await freePort();
    const pem = ['--tls-cert-file', file('server.pem'), '--tls-key-file', file('server.key')];
    const args = ['--tls-port', String(port), ...pem, '--tls-ca-cert-file', file('ca.pem')];
    server = await startRedisServer([...args, '--requirepass', 'sesame']);
    url = `rediss://:sesame@127.0.0.1:${port}`;
  });
  after(async () => {
    await (server as PrivateRedis | undefined)?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const open = (tls: TlsSettings): Promise<RedisStore> => connectRedisStore({ url, tls, limits: QUICK });
  const refusal = async (tls: TlsSettings): Promise<string> => {
    const error: unknown = await open(tls).catch((reason: unknown) => reason);
    if (error instanceof MillraceError && error.code === 'store_unavailable') return error.message;
    throw new Error(`expected a refusal, got ${String(error)}`);
  };
  const client = (): TlsSettings => ({
    ca: file('ca.pem'),
    cert: file('client.pem'),
    key: file('client.key'),
  });

  it('works with the CA and a client certificate', async () => {
    const store = await open(client());
    await store.write([{ key: 'k', value: Buffer.from('v') }]);
    expect(await store.read(['k'])).to.deep.equal([Buffer.from('v')]);
    const [address] = store.masters.current();
    const extra = store.masters.connect(address ?? { host: '', port: 0 }, 'track');
    await extra.connect();
    expect(await extra.ping()).to.equal('PONG');
    extra.disconnect();
    await store.close();
  });

  it('refuses a server whose certificate no known CA signed, unless told to take any', async () => {
    const { cert, key } = client();
    const unknown = { cert: cert ?? '', key: key ?? '' };
    const message = await refusal(unknown);
    expect(message)
      .to.match(/certificate|self.signed/)
      .and.to.contain('REDIS_TLS_CA');
    expect(message).not.to.contain('sesame');
    await (await open({ ...unknown, verify: false })).close();
  });

  it('refuses a certificate of another name, unless that is the expected one', async () => {
    expect(await refusal({ ...client(), servername: 'redis.example' })).to.match(/altnames|Hostname/);
    await (await open({ ...client(), servername: 'localhost' })).close();
  });

  it('says so where the server wants a client certificate', async () => {
    expect(await refusal({ ca: file('ca.pem') })).to.contain('cannot be used');
  });
});

/** A CA, and certificates that it signed for the server and for a client; valid for a day. */
async function makeCertificates(file: (name: string) => string): Promise<void> {
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...key, '-days', '1', '-subj', '/CN=test CA'],
    ...['-keyout', file('ca.key'), '-out', file('ca.pem')],
  );
  await writeFile(file('server.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  await writeFile(file('client.ext'), 'extendedKeyUsage=clientAuth\n');
  for (const name of ['server', 'client']) {
    openssl(
      'req',
      ...key,
      '-subj',
      `/CN=${name}`,
      '-keyout',
      file(`${name}.key`),
      '-out',
      file(`${name}.csr`),
    );
    openssl(
      ...['x509', '-req', '-in', file(`${name}.csr`), '-CA', file('ca.pem'), '-CAkey', file('ca.key')],
      ...['-CAcreateserial', '-days', '1', '-extfile', file(`${name}.ext`), '-out', file(`${name}.pem`)],
    );
  }
}
