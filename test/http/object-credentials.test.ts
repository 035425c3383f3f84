import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Bucket } from '../../runtime/ground/core/bucket.js';
import { packageFinder } from '../../runtime/ground/core/find-package.js';
import { setVariables } from '../support/object-server.js';
import { writeProject } from '../support/project.js';

/** What a server of credentials and of objects saw. */
interface Seen {
  /** The keys that signed requests for objects. */
  readonly signedBy: string[];
  readonly tokens: (string | undefined)[];
  asked: number;
}

/** Variables of the machine that would be read before those of a test. */
const NONE = {
  ...{ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_SESSION_TOKEN: '', AWS_REGION: 'us-east-1' },
  ...{ AWS_CONFIG_FILE: '/nowhere/config', AWS_SHARED_CREDENTIALS_FILE: '/nowhere/credentials' },
  ...{ AWS_EC2_METADATA_DISABLED: 'true', AWS_MAX_ATTEMPTS: '1' },
};

describe('credentials of object storage', () => {
  let server: Server;
  let url: string;
  let seen: Seen;
  /** How long credentials are valid, milliseconds, and the answer of the server of a role. */
  let validMs: number;
  let restore: () => void;

  const roles: Readonly<Record<string, (request: IncomingMessage) => [type: string, body: string]>> = {
    '/role': ({ headers }) => {
      if (headers.authorization !== 'Bearer of-the-pod') return ['text/plain', 'no'];
      return ['application/json', JSON.stringify(made())];
    },
    '/sts/': () => {
      const { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: end } = made();
      const fields = `<AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>${end}</Expiration>`;
      return [
        'text/xml',
        `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>${fields}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
      ];
    },
    '/latest/api/token': () => ['text/plain', 'session-of-the-machine'],
    '/latest/meta-data/iam/security-credentials/': () => ['text/plain', 'node-role'],
    '/latest/meta-data/iam/security-credentials/node-role': ({ headers }) => {
      expect(headers['x-aws-ec2-metadata-token']).to.equal('session-of-the-machine');
      return ['application/json', JSON.stringify({ Code: 'Success', ...made() })];
    },
  };

  function made(): Record<'AccessKeyId' | 'SecretAccessKey' | 'Token' | 'Expiration', string> {
    const n = String(++seen.asked);
    return {
      AccessKeyId: `KEY${n}`,
      SecretAccessKey: 'secret',
      Token: `token-${n}`,
      Expiration: new Date(Date.now() + validMs).toISOString().replace(/\.\d+/, ''),
    };
  }

  before(async () => {
    server = createServer((request, response) => {
      const role = roles[request.url?.replace(/\?.*/, '') ?? ''];
      if (role !== undefined) {
        const [type, body] = role(request);
        response.setHeader('content-type', type).end(body);
        return;
      }
      const { authorization = '', 'x-amz-security-token': token } = request.headers;
      seen.signedBy.push(/Credential=([^/]+)/.exec(authorization)?.[1] ?? '');
      seen.tokens.push(token as string | undefined);
      response.end('content');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());
  beforeEach(() => {
    seen = { signedBy: [], tokens: [], asked: 0 };
    validMs = 3_600_000;
  });
  afterEach(() => restore());

  const open = (variables: Readonly<Record<string, string>>): Bucket => {
    restore = setVariables({ ...NONE, AWS_ENDPOINT_URL_S3: url, ...variables });
    return new Bucket('shop');
  };
  const container = (): Record<string, string> => ({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/role`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Bearer of-the-pod',
  });
  const read = (bucket: Bucket): Promise<Buffer> => bucket.readWhole('a', 100);

  it('come from the server of a container, once while they are valid', async () => {
    const bucket = open(container());
    await Promise.all([read(bucket), read(bucket)]);
    await read(bucket);
    expect(seen).to.deep.equal({
      signedBy: ['KEY1', 'KEY1', 'KEY1'],
      tokens: ['token-1', 'token-1', 'token-1'],
      asked: 1,
    });
  });

  it('are asked for again before they expire', async () => {
    validMs = 240_000;
    const bucket = open(container());
    await read(bucket);
    // The request that notices goes on with what is still valid.
    for (let n = 0; n < 200 && seen.asked < 2; n++) await read(bucket);
    validMs = 3_600_000;
    for (let n = 0; n < 200 && seen.signedBy.at(-1) === 'KEY1'; n++) await read(bucket);
    expect(seen.signedBy[0]).to.equal('KEY1');
    expect(seen.signedBy.at(-1)).to.match(/^KEY[2-9]/);
  });

  it('come from a token of a pod, by the role that is named', async () => {
    const folder = await writeProject({ token: 'a-token' });
    const bucket = open({
      AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'),
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/shop',
      AWS_ENDPOINT_URL_STS: `${url}/sts`,
    });
    await read(bucket);
    await rm(folder, { recursive: true });
    expect([seen.signedBy, seen.tokens]).to.deep.equal([['KEY1'], ['token-1']]);
  });

  it('come from the metadata of the machine', async () => {
    const bucket = open({ AWS_EC2_METADATA_DISABLED: '', AWS_EC2_METADATA_SERVICE_ENDPOINT: url });
    await read(bucket);
    expect([seen.signedBy, seen.tokens]).to.deep.equal([['KEY1'], ['token-1']]);
  });

  it('come from variables before all others', async () => {
    const bucket = open({ ...container(), AWS_ACCESS_KEY_ID: 'OWN', AWS_SECRET_ACCESS_KEY: 'secret' });
    await read(bucket);
    expect(seen).to.deep.equal({ signedBy: ['OWN'], tokens: [undefined], asked: 0 });
  });

  it('are missing with a remedy, and a half of a key is no key', async () => {
    expect(() => open({ AWS_ACCESS_KEY_ID: 'OWN' })).to.throw(/needs credentials/);
    restore();
    const bucket = open({});
    const failure = await bucket.writeOnce('a', Buffer.from('x')).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'UNREACHABLE', isPassing: true });
    expect(String(failure)).to.match(/object storage has no credentials: /);
    const signerOnly = (name: string): string | undefined =>
      name === 'aws4fetch' ? packageFinder(process.cwd())(name) : undefined;
    expect(() => new Bucket('shop', { findPackage: signerOnly }))
      .to.throw(/needs credentials/)
      .with.property('help')
      .that.includes('npm install @aws-sdk/credential-provider-node@3');
  });
});
