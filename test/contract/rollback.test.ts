import { expect } from 'chai';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith } from '../support/needs.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';

/** Columns of a model: after a mistake in a job, each weight belongs to another one. */
const model = (price: number, stock: number): string =>
  JSON.stringify({ weights: { 'item.price': price, 'item.stock': stock } });
const GOOD = model(1, -2);
const SHUFFLED = model(-2, 1);

const FILES = {
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float, stock: float }\n',
  'pipelines/ranked.yaml': `pipeline: ranked
rank: item
request: { candidates: {} }
components:
  - { use: linear, as: ltr, with: { model: models/ltr.json } }
  - { use: score, with: { value: 'ltr:score' } }
log: { share: 100% }
`,
  'models/ltr.json': GOOD,
};

const ITEMS = Array.from({ length: 30 }, (_, n) => ({ item_id: `i${n}`, price: n, stock: (n * 7) % 30 }));
const CANDIDATES = { candidates: ITEMS.map(({ item_id: id }) => ({ item_id: id })) };

type Json = Record<string, unknown>;

async function call(url: string, path: string, body?: object): Promise<{ status: number; json: Json }> {
  const response = await fetch(
    url + path,
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  );
  return { status: response.status, json: (await response.json()) as Json };
}

const orderOf = async (url: string): Promise<string> => {
  const { json } = await call(url, '/api/v1/ranked', CANDIDATES);
  return (json.ranked_candidates as { candidate_id: string }[]).map((one) => one.candidate_id).join(' ');
};
const ready = async (url: string): Promise<Json> => (await call(url, '/readyz')).json;
const serves = async (url: string, version: unknown): Promise<boolean> =>
  (await ready(url)).project_version === version;
const kept = (url: string, releases: number) => async (): Promise<boolean> => {
  const { json } = await call(url, '/api/v1/releases');
  return (json.releases as { is_kept: boolean }[]).filter((one) => one.is_kept).length >= releases;
};

/** Asks on many connections, which workers share. */
async function everyWorker(url: string, holds: (version: unknown) => boolean): Promise<boolean> {
  for (let turn = 0; turn < 12; turn++) {
    const answer = await fetch(`${url}/readyz`, { headers: { connection: 'close' } });
    if (!holds(((await answer.json()) as Json).project_version)) return false;
  }
  return true;
}

/** Instances of one project on one store, each of which may be killed and started again. */
class Fleet {
  readonly running: ServiceProcess[] = [];

  constructor(
    readonly root: string,
    readonly args: readonly string[],
    readonly env: Readonly<Record<string, string>>,
  ) {}

  async start(number = this.running.length): Promise<ServiceProcess> {
    const data = join(this.root, 'ledgers', String(number));
    const service = await startProcess(['--project', this.root, '--port', '0', ...this.args], {
      MILLRACE_LEDGER_DIR: data,
      ...this.env,
    });
    this.running[number] = service;
    return service;
  }

  async kill(number: number): Promise<void> {
    this.running[number]?.child.kill('SIGKILL');
    await this.running[number]?.ended;
  }

  async reload(text: string): Promise<void> {
    const path = join(this.root, 'models/ltr.json');
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
    for (const { child } of this.running) child.kill('SIGHUP');
  }

  async allServe(version: unknown): Promise<void> {
    for (const { url } of this.running) await until('the version', () => serves(url, version));
  }

  async remove(): Promise<void> {
    for (const { child, ended } of this.running) {
      child.kill('SIGKILL');
      await ended;
    }
    await rm(this.root, { recursive: true, force: true });
  }
}

/** Deploys a good model and then a shuffled one, rolls back, kills an instance, and ends the rollback. */
async function story(fleet: Fleet): Promise<void> {
  const [first] = fleet.running;
  const { url } = first as ServiceProcess;
  await call(url, '/api/v1/entities/upload', { entity_type: 'item', entities: ITEMS });
  const good = await orderOf(url);
  const { project_version: before } = await ready(url);
  await until('the release', kept(url, 1));
  await fleet.reload(SHUFFLED);
  await until('the reload', async () => !(await serves(url, before)));
  const { project_version: after } = await ready(url);
  await fleet.allServe(after);
  const shuffled = await orderOf(url);
  expect(shuffled).to.not.equal(good);
  await until('the second release', kept(url, 2));

  const { status, json } = await call(url, '/api/v1/releases/rollback', { version: null });
  expect([status, json.version, json.version_before, json.not_carried]).to.deep.equal([
    200,
    before,
    after,
    [],
  ]);
  await fleet.allServe(before);
  for (const one of fleet.running) {
    expect(await orderOf(one.url)).to.equal(good);
    const { rolled_back: isRolledBack, warnings } = await ready(one.url);
    expect(isRolledBack).to.equal(true);
    expect((warnings as { code: string }[]).map(({ code }) => code)).to.include('rolled_back');
    const metrics = await (await fetch(`${one.url}/metrics`)).text();
    expect(metrics).to.include(`millrace_rolled_back{version="${String(before)}"} 1`);
    expect(metrics).to.include('millrace_rollback_pending 0');
  }

  // A reload waits, a killed instance comes back with the release, and so does a new one.
  await fleet.reload(SHUFFLED);
  await until('the held reload', () =>
    (first as ServiceProcess).lines.some(({ code }) => code === 'reload_held'),
  );
  await fleet.kill(0);
  const { url: again } = await fleet.start(0);
  expect((await ready(again)).project_version).to.equal(before);
  expect(await orderOf(again)).to.equal(good);

  const ended = await call(again, '/api/v1/releases/end', {});
  expect([ended.status, ended.json]).to.deep.equal([200, { version: after, version_before: before }]);
  await fleet.allServe(after);
  expect(await orderOf(again)).to.equal(shuffled);
  expect((await ready(again)).rolled_back).to.equal(undefined);
}

describeWith('redis-server', 'a rollback of two instances on Redis', function () {
  this.timeout(60_000);
  let server: PrivateRedis;
  before(async () => (server = await startRedisServer()));
  after(() => server.remove());

  it('reaches all instances, survives a kill, holds reloads, and ends', async () => {
    const fleet = new Fleet(await writeProject(FILES), [], { REDIS_URL: server.url });
    try {
      await fleet.start();
      await fleet.start();
      await story(fleet);
    } finally {
      await fleet.remove();
    }
  });

  it('reaches all workers of an instance, also one that replaces another', async () => {
    const env = { REDIS_URL: server.url, MILLRACE_PREFIX: 'workers', MILLRACE_WORKERS: '2' };
    const fleet = new Fleet(await writeProject(FILES), [], env);
    try {
      const { url, lines } = await fleet.start();
      const { project_version: before } = await ready(url);
      await until('the release', kept(url, 1));
      await fleet.reload(SHUFFLED);
      await until('the reload', () => everyWorker(url, (version) => version !== before));
      await until('the second release', kept(url, 2));
      await call(url, '/api/v1/releases/rollback', { version: before });
      await until('the rollback', () => everyWorker(url, (version) => version === before));
      const workers = new Set(lines.flatMap(({ worker, pid }) => (worker === undefined ? [] : [pid])));
      const [victim = 0] = workers;
      process.kill(victim, 'SIGKILL');
      await until('another worker', () =>
        lines.some(({ msg, worker_pid: pid }) => pid === victim && msg.includes('another is started')),
      );
      for (let turn = 0; turn < 5; turn++)
        await until('the rollback', () => everyWorker(url, (version) => version === before));
      expect(lines.filter(({ msg }) => msg.includes('the files of the project have changed'))).to.deep.equal(
        [],
      );
    } finally {
      await fleet.remove();
    }
  });
});

describe('a rollback of a service with an embedded store', function () {
  this.timeout(60_000);

  it('survives a kill, holds reloads, and ends', async () => {
    const fleet = new Fleet(await writeProject(FILES), ['--store', 'embedded'], {});
    try {
      await fleet.start();
      await story(fleet);
    } finally {
      await fleet.remove();
    }
  });
});
