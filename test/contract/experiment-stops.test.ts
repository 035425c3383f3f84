import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';

const FILES = {
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: optional(user) }
params: { w: 1 }
components:
  - { use: score, with: { value: w } }
`,
  'experiments/prices.yaml':
    'experiment: prices\npipeline: search\nunit: user\narms: { control: {}, other: { params: { w: 2 } } }\n',
};
const ROUNDS = 15;
/** So many connections reach all workers. */
const CONNECTIONS = 12;

describeWith('redis-server', 'stops of experiments on several instances', function () {
  this.timeout(120_000);
  let redis: PrivateRedis;
  let root = '';
  const services: ServiceProcess[] = [];

  before(async function () {
    redis = await startRedisServer();
    root = await writeProject(FILES);
    const start = (...more: string[]): Promise<ServiceProcess> =>
      startProcess(['--project', root, '--port', '0', ...more], {
        REDIS_URL: redis.url,
        MILLRACE_LAME_DUCK_MS: '0',
        LOG_LEVEL: 'info',
      });
    services.push(await start(), await start(), await start('--workers', '2'));
  });
  after(async () => {
    for (const service of services) {
      service.child.kill('SIGKILL');
      await service.ended;
    }
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  });

  const post = async ({ url }: ServiceProcess, path: string, body: object): Promise<Response> => {
    const answer = await fetch(`${url}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(body),
    });
    expect(answer.status, path).to.equal(200);
    await answer.arrayBuffer();
    return answer;
  };
  const change = (service: ServiceProcess, verb: 'stop' | 'resume'): Promise<Response> =>
    post(service, `experiments/${verb}`, { experiment: 'prices' });

  /** Whether the requests of so many connections take part in the experiment: all, none, or some. */
  async function takePart(service: ServiceProcess, connections: number): Promise<'all' | 'none' | 'some'> {
    const body = { user: { user_id: 'u1' }, candidates: [{ product_id: 'a' }] };
    let taken = 0;
    for (let i = 0; i < connections; i++)
      if ((await post(service, 'search', body)).headers.has('Millrace-Experiment')) taken++;
    return taken === 0 ? 'none' : taken === connections ? 'all' : 'some';
  }

  it('hold at once on the instance that was asked, whatever it reads meanwhile', async () => {
    const [first] = services;
    if (first === undefined) throw new Error('a service runs');
    for (let round = 0; round < ROUNDS; round++) {
      await change(first, 'stop');
      for (let i = 0; i < 5; i++) expect(await takePart(first, 4)).to.equal('none');
      await change(first, 'resume');
      for (let i = 0; i < 5; i++) expect(await takePart(first, 4)).to.equal('all');
    }
  });

  it('reach every process and every worker, whichever was asked, and stay', async () => {
    for (const asked of services)
      for (const [verb, expected] of [
        ['stop', 'none'],
        ['resume', 'all'],
      ] as const) {
        await change(asked, verb);
        for (const service of services)
          await until(verb, async () => (await takePart(service, CONNECTIONS)) === expected);
        for (const service of services)
          for (let i = 0; i < 3; i++) expect(await takePart(service, CONNECTIONS)).to.equal(expected);
      }
  });

  it('hold for an instance that starts later', async () => {
    const [first] = services;
    if (first === undefined) throw new Error('a service runs');
    await change(first, 'stop');
    const late = await startProcess(['--project', root, '--port', '0'], { REDIS_URL: redis.url });
    services.push(late);
    expect(await takePart(late, 4)).to.equal('none');
    await change(late, 'resume');
    expect(await takePart(late, 4)).to.equal('all');
  });

  it('are refused with the reason while the store is down, and stay as they are', async () => {
    const [first] = services;
    if (first === undefined) throw new Error('a service runs');
    await change(first, 'resume');
    await redis.stop();
    for (const verb of ['stop', 'resume']) {
      const answer = await fetch(`${first.url}/api/v1/experiments/${verb}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: '{ "experiment": "prices" }',
      });
      const { code, detail } = (await answer.json()) as { code: string; detail: string };
      expect([answer.status, code]).to.deep.equal([503, 'store_unavailable']);
      expect(detail).to.match(
        /^The (stop|resumption) of prices is not confirmed; it is safe to send it again\. /,
      );
    }
    expect(await takePart(first, 4)).to.equal('all');
  });
});
