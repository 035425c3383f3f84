import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { loadSettings } from '../../../runtime/project/settings/settings.js';
import { engineTraits } from '../../../runtime/serve/app/container/store-engines.js';
import { millrace } from '../../support/command-line.js';
import { newTally, postBytes, runClient } from '../../support/counting-client.js';
import { writeProject } from '../../support/project.js';
import { startRedisServer, type PrivateRedis } from '../../support/redis-server.js';
import { ServiceFailed, startProcess, type ServiceProcess } from '../../support/service-process.js';
import { describeWith } from '../../support/needs.js';
import { until as untilWithin } from '../../support/until.js';

const PIPELINE = 'pipelines/plain.yaml';
const RANK = '/api/v1/plain';
const BODY = { candidates: [{ product_id: 'p' }] };
/** How long a test waits for something that takes a second on a quiet machine. */
const PATIENCE_MS = 90_000;
/** How long a client waits for an answer. */
const ANSWER_MS = 10_000;
const RELOADED = 'the project was reloaded';
const REFUSED = 'the reload failed; what served before goes on serving';

const until = (what: string, holds: () => boolean | Promise<boolean>): Promise<number> =>
  untilWithin(what, holds, PATIENCE_MS);

const scoring = (value: string): string =>
  `pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: ${value} }\n`;

describe('millrace serve --workers, refused', () => {
  it('refuses several workers on the embedded store, and says why', async () => {
    const { code, stderr } = await millrace(['serve', '--store', 'embedded', '--workers', '2']);
    expect(code).to.equal(2);
    expect(stderr).to.include('error[invalid_setting]: --workers is 2');
    expect(stderr).to.include('only one process can open an embedded store');
  });

  it('refuses several workers on an engine of a package, unless the engine is shared', async () => {
    const folder = await writeProject({
      'millrace.yaml': 'project: shop\nplugins: [toys]\n',
      'node_modules/toys/package.json':
        '{ "name": "toys", "version": "1.0.0", "type": "module", "millrace": { "api": "^1.0", "plugins": "./index.js" } }',
      'node_modules/toys/index.js': `const open = () => Promise.reject(new Error('it stays closed'));
export const stores = [
  { name: 'toy', summary: 'Has one owner.', open },
  { name: 'common', summary: 'Is shared.', isShared: true, open },
];
`,
      [PIPELINE]: scoring('1'),
    });
    try {
      const { code, stderr } = await millrace([
        ...['serve', '--project', folder, '--store', 'toy', '--workers', '2', '--port', '0'],
      ]);
      expect(stderr).to.include('only one process can open the store toy; use the redis store, or 1 worker');
      expect(code).to.equal(2);
      const settings = loadSettings({ MILLRACE_STORE: 'common' }, { project: folder });
      expect(await engineTraits(settings)).to.deep.include({ called: 'the store common', isShared: true });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('refuses a number of workers that is none', async () => {
    const { code, stderr } = await millrace(['serve', '--workers', 'all']);
    expect(code).to.equal(2);
    expect(stderr).to.include('--workers is "all"; expected a number of workers, 1 to 256');
  });
});

describeWith('redis-server', 'millrace serve --workers', function () {
  // A worker is a process that loads the project; on a busy machine that takes seconds.
  this.timeout(2 * PATIENCE_MS);
  let redis: PrivateRedis;
  let root = '';
  let service: ServiceProcess | undefined;
  before(async function () {
    redis = await startRedisServer();
  });
  after(() => redis.remove());
  beforeEach(async () => {
    root = await writeProject({ [PIPELINE]: scoring('1') });
  });
  afterEach(async () => {
    service?.child.kill('SIGKILL');
    await service?.ended;
    service = undefined;
    await rm(root, { recursive: true });
  });

  const serve = async (env: Record<string, string> = {}, ...flags: string[]): Promise<ServiceProcess> => {
    service = await startProcess(['--project', root, '--port', '0', '--workers', '2', ...flags], {
      REDIS_URL: redis.url,
      MILLRACE_LAME_DUCK_MS: '200',
      ...env,
    });
    return service;
  };
  const scoreAt = async (url: string): Promise<unknown> => {
    const response = await fetch(url + RANK, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(BODY),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const { ranked_candidates: ranked } = (await response.json()) as {
      ranked_candidates: { ranked_score: number }[];
    };
    return ranked[0]?.ranked_score;
  };
  const metricsAt = async (url: string): Promise<Map<string, number>> => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(`${url}/metrics`, { headers: { connection: 'close' }, signal });
    const lines = (await answer.text()).split('\n').filter((line) => /^[a-z]/.test(line));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  };
  const told = ({ lines }: ServiceProcess, msg: string): number =>
    lines.filter((line) => line.msg === msg).length;
  const ranked = 'millrace_http_requests_total{route="/api/v1/plain",status="200"}';

  it('splits connections evenly and shows the metrics of all workers together', async () => {
    const { url, port } = await serve();
    const tally = newTally();
    const stop = new AbortController();
    const request = postBytes(RANK, BODY);
    const clients = Array.from({ length: 6 }, () =>
      runClient({ port, request, thinkMs: () => 10, stop: stop.signal }, tally),
    );
    await until('some answers', () => tally.answered > 100);
    const metrics = await metricsAt(url);
    expect(metrics.get('millrace_workers_ready')).to.equal(2);
    // The connection of the scrape is one of them.
    const split = [1, 2].map((worker) => metrics.get(`millrace_worker_connections{worker="${worker}"}`));
    expect(split).to.have.members([3, 4]);
    stop.abort();
    await Promise.all(clients);
    const after = await metricsAt(url);
    expect(after.get(ranked)).to.equal(tally.answered);
    expect(tally.lost).to.equal(0);
    expect(after.get('millrace_last_reload_successful')).to.equal(1);
  });

  it('replaces a worker that is killed, and keeps its counts', async () => {
    const { url, lines } = await serve();
    for (let i = 0; i < 6; i++) expect(await scoreAt(url)).to.equal(1);
    expect((await metricsAt(url)).get(ranked)).to.equal(6);
    const first = lines.find(({ worker }) => worker === 1)?.pid ?? 0;
    process.kill(first, 'SIGKILL');
    await until('a worker in its place', async () => {
      // A connection that node:cluster hands to a worker while it is killed never gets an answer.
      const metrics = await metricsAt(url).catch(() => new Map<string, number>());
      return (
        metrics.get('millrace_workers_ready') === 2 && metrics.get('millrace_worker_restarts_total') === 1
      );
    });
    expect(lines.find(({ end }) => end === 'SIGKILL')).to.include({ worker: 1, worker_pid: first });
    expect((await metricsAt(url)).get(ranked)).to.equal(6);
    expect(await scoreAt(url)).to.equal(1);
  });

  it('gives a connection to another worker if the one that was to get it is killed', async () => {
    const { url, lines } = await serve();
    const pids = [1, 2].map((number) => lines.find(({ worker }) => worker === number)?.pid ?? 0);
    const stopped = pids[0] ?? 0;
    process.kill(stopped, 'SIGSTOP');
    const scores = Array.from({ length: 6 }, () => scoreAt(url));
    await pause(500); // the primary has sent the stopped worker its share
    process.kill(stopped, 'SIGKILL');
    expect(await Promise.all(scores)).to.deep.equal([1, 1, 1, 1, 1, 1]);
  });

  it('replaces a worker that gets SIGTERM alone, after it has answered its requests', async () => {
    const { url, port, lines, ended } = await serve();
    const tally = newTally();
    const stop = new AbortController();
    const request = postBytes(RANK, BODY);
    const clients = Array.from({ length: 6 }, () =>
      runClient({ port, request, thinkMs: () => 2, stop: stop.signal }, tally),
    );
    await until('some answers', () => tally.answered > 50);
    process.kill(lines.find(({ worker }) => worker === 1)?.pid ?? 0, 'SIGTERM');
    await until('a worker in its place', async () => {
      const metrics = await metricsAt(url);
      return (
        metrics.get('millrace_worker_restarts_total') === 1 && metrics.get('millrace_workers_ready') === 2
      );
    });
    service?.child.kill('SIGTERM');
    expect(await ended).to.equal(0);
    stop.abort();
    await Promise.all(clients);
    expect(tally.lost, JSON.stringify([...tally.causes])).to.equal(0);
  });

  it('reloads one worker after the other at SIGHUP; the first refuses a wrong project for all', async () => {
    const running = await serve();
    await writeFile(join(root, PIPELINE), scoring('2'));
    running.child.kill('SIGHUP');
    await until('two reloads', () => told(running, RELOADED) === 2);
    for (let i = 0; i < 4; i++) expect(await scoreAt(running.url)).to.equal(2);
    await writeFile(join(root, PIPELINE), scoring('prodct.price'));
    running.child.kill('SIGHUP');
    await until('a refusal', () => told(running, REFUSED) === 1);
    await pause(200);
    expect(told(running, REFUSED)).to.equal(1);
    for (let i = 0; i < 4; i++) expect(await scoreAt(running.url)).to.equal(2);
  });

  it('with --watch reloads all workers after a change', async () => {
    const running = await serve({ MILLRACE_RELOAD_POLL_MS: '20' }, '--watch');
    await writeFile(join(root, PIPELINE), scoring('3'));
    await until('two reloads', () => told(running, RELOADED) === 2);
    for (let i = 0; i < 4; i++) expect(await scoreAt(running.url)).to.equal(3);
  });

  it('reports a wrong project once, and exits with 1', async () => {
    await writeFile(join(root, PIPELINE), scoring('prodct.price'));
    const failed = await serve().catch((error: unknown) => error as ServiceFailed);
    expect(failed).to.be.instanceOf(ServiceFailed);
    const { code, stderr } = failed as ServiceFailed;
    expect(code).to.equal(1);
    expect(stderr.split('pipelines/plain.yaml:5:').length - 1).to.equal(1);
    expect(stderr).to.include('1 error');
  });

  it('answers 503 to /readyz first, then drains all workers without a lost request', async () => {
    const { url, port, child, ended } = await serve({ MILLRACE_LAME_DUCK_MS: '500' });
    const tally = newTally();
    const stop = new AbortController();
    const request = postBytes(RANK, BODY);
    const clients = Array.from({ length: 8 }, (_, i) =>
      runClient({ port, request, thinkMs: () => i * 5, stop: stop.signal }, tally),
    );
    await pause(200);
    child.kill('SIGTERM');
    await until('503', async () => {
      const answer = await fetch(`${url}/readyz`, { headers: { connection: 'close' } });
      return answer.status === 503;
    });
    expect(await scoreAt(url)).to.equal(1);
    expect(await ended).to.equal(0);
    stop.abort();
    await Promise.all(clients);
    expect(tally.lost, JSON.stringify([...tally.causes])).to.equal(0);
    expect(tally.closing).to.equal(clients.length);
  });
});
