import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createKey } from '../../runtime/serve/access/key-text.js';
import { millrace, type CommandResult } from '../support/command-line.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { describeWith } from '../support/needs.js';
import { until as untilWithin } from '../support/until.js';

const PATIENCE_MS = 60_000;
const until = (what: string, holds: () => Promise<boolean> | boolean): Promise<number> =>
  untilWithin(what, holds, PATIENCE_MS);

const PIPELINE = `pipeline: clicks
rank: product
request: { user: user }
components:
  - use: interaction
    as: history
    with: { of: user, with: product, outputs: { clicks: { event: click, window: 7d } } }
  - use: score
    with: { value: 'history:clicks' }
`;

describeWith('redis-server', 'millrace consume --url', function () {
  this.timeout(2 * PATIENCE_MS);
  let redis: PrivateRedis;
  let streams: PrivateRedis;
  let client: Redis;
  let root = '';
  let keys = '';
  let rankKey = '';
  let feedbackKey = '';
  let service: ServiceProcess;

  before(async function () {
    redis = await startRedisServer();
    streams = await startRedisServer();
    client = new Redis(streams.url);
    root = await writeProject({
      'pipelines/clicks.yaml': PIPELINE,
      'sources/web.yaml': `source: web
use: redis_stream
into: feedback
map: segment
with: { url: "${streams.url}", stream: web }
`,
    });
    keys = join(root, 'keys.json');
    [rankKey, feedbackKey] = [await create('rank'), await create('feedback')];
    service = await startProcess(['--project', root, '--port', '0'], {
      REDIS_URL: redis.url,
      MILLRACE_KEYS: keys,
      MILLRACE_CONSUME: 'false',
      MILLRACE_LAME_DUCK_MS: '0',
    });
  });
  after(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
    client.disconnect();
    await redis.remove();
    await streams.remove();
    await rm(root, { recursive: true, force: true });
  });

  const create = async (scope: string): Promise<string> =>
    (await millrace(['keys', 'create', scope, '--scope', scope, '--keys-file', keys])).stdout.trimEnd();

  /** Runs until it ends by itself, or is stopped. */
  function consume(
    url: string,
    key: string,
    more: { readonly stop?: AbortSignal; readonly onOutput?: (text: string) => void } = {},
  ): Promise<CommandResult> {
    const env = { LOG_LEVEL: 'info', ...(key === '' ? {} : { MILLRACE_KEY: key }) };
    return millrace(['consume', 'web', '--project', root, '--url', url], { env, ...more });
  }

  const add = (id: string): Promise<string | null> =>
    client.xadd(
      'web',
      '*',
      'data',
      JSON.stringify({
        ...{ type: 'track', messageId: id, event: 'Product Clicked', userId: 'u' },
        ...{ timestamp: new Date().toISOString(), properties: { product_id: 'a' } },
      }),
    );

  async function clicks(): Promise<number | undefined> {
    const answer = await fetch(`${service.url}/api/v1/clicks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${rankKey}` },
      body: '{"user":{"user_id":"u"},"candidates":[{"product_id":"a"}]}',
    });
    const { ranked_candidates: ranked } = (await answer.json()) as {
      ranked_candidates?: { ranked_score: number }[];
    };
    return ranked?.[0]?.ranked_score;
  }

  it('ends with one message if the key is missing, wrong or lacks the scope', async () => {
    const none = await consume(service.url, '');
    expect([none.code, none.stdout]).to.deep.equal([1, '']);
    expect(none.stderr).to.match(/^error\[key_required\]: [^\n]+\n/);
    const wrong = await consume(service.url, createKey().text);
    expect(wrong.code).to.equal(1);
    expect(wrong.stderr).to.match(/^error\[key_invalid\]: [^\n]+\n/);
    const other = await consume(service.url, rankKey);
    expect(other.code).to.equal(1);
    expect(other.stderr).to.match(/^error\[scope_missing\]: [^\n]+\n/);
  });

  it('ends with one message if no service answers at the address', async () => {
    const nobody = await consume('http://127.0.0.1:1', '');
    expect([nobody.code, nobody.stdout]).to.deep.equal([1, '']);
    expect(nobody.stderr).to.include('no service answers at http://127.0.0.1:1 (ECONNREFUSED)');
    const other = createServer((_, answer) => answer.writeHead(200).end('hello')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const web = await consume(`http://127.0.0.1:${port}`, '');
    other.close();
    expect(web.code).to.equal(1);
    expect(web.stderr).to.include('but not like a Millrace service');
  });

  it('retries while the service answers 503, and then stores everything once', async () => {
    const stop = new AbortController();
    let log = '';
    const running = consume(service.url, feedbackKey, {
      stop: stop.signal,
      onOutput: (text) => {
        log += text;
      },
    });
    await add('m1');
    await until('the first click', async () => (await clicks()) === 1);
    await redis.stop();
    await add('m2');
    await until('a retry', () => log.includes('messages could not be stored; trying again'));
    await redis.start();
    // This Redis keeps nothing, so only the second click is left.
    await until('the second click', async () => (await clicks()) === 1);
    await add('m2');
    await add('m3');
    await until('the third click', async () => (await clicks()) === 2);
    stop.abort();
    expect((await running).code).to.equal(0);
    const lines = log.split('\n').filter((line) => line.includes('could not be stored'));
    expect(lines.length).to.be.within(1, 3);
    expect(log).to.include('"duplicates":1').and.include('"stored":3');
  });
});
