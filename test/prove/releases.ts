import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newTally, postBytes, runClient, type Tally } from '../support/counting-client.js';
import { writeProject } from '../support/project.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import type { Proof, ProofResult } from './proof.js';
import { causesText } from './support/small-service.js';

const INSTANCES = 3;
const CLIENTS = 4;
const ITEMS = 100;
const MODEL = 'models/ltr.json';
/** The bound for each instance. */
const MOST_MS = 10_000;

const model = (price: number, stock: number): string =>
  JSON.stringify({ weights: { 'item.price': price, 'item.stock': stock } });

const FILES = {
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float, stock: float }\n',
  'pipelines/ranked.yaml':
    `pipeline: ranked\nrank: item\nrequest: { candidates: {} }\nlog: { share: 100% }\ncomponents:\n` +
    `  - { use: linear, as: ltr, with: { model: ${MODEL} } }\n  - { use: score, with: { value: 'ltr:score' } }\n`,
  [MODEL]: model(1, -2),
};
const items = Array.from({ length: ITEMS }, (_, n) => ({
  item_id: `i${n}`,
  price: n,
  stock: (n * 37) % 100,
}));
const RANKING = postBytes('/api/v1/ranked', {
  candidates: items.map(({ item_id: id }) => ({ item_id: id })),
});

export const releases: Proof = {
  name: 'releases',
  page: 'rollback.md',
  summary:
    'a model with shuffled columns under load: agreement, rollback of three instances on a Redis Cluster, kill -9, end',
  run: async ({ short }) => {
    const root = await writeProject(FILES);
    const redis = await startRedisCluster({ masters: 3, replicas: false });
    const stage = new Stage(root, redis.addresses.map(({ host, port }) => `${host}:${port}`).join());
    try {
      return await stage.run(short ? 1 : 5);
    } finally {
      await stage.close();
      await redis.remove();
      await rm(root, { recursive: true, force: true });
    }
  },
};

class Stage {
  readonly #tally = newTally();
  readonly #services: ServiceProcess[] = [];
  readonly #stops: AbortController[] = [];
  readonly #times = new Map<string, number>();
  readonly #agreements: number[] = [];
  readonly #statuses = new Map<string, number>();

  constructor(
    private readonly root: string,
    private readonly nodes: string,
  ) {}

  async run(rounds: number): Promise<ProofResult> {
    for (let number = 0; number < INSTANCES; number++) await this.#start(number, this.#tally);
    await post(this.#url(0), '/api/v1/entities/upload', { entity_type: 'item', entities: items });
    const killed = newTally();
    const good = await versionOf(this.#url(0));
    await this.#kept(1);
    for (let round = 0; round < rounds; round++) await this.#round(good, round, killed);
    for (const stop of this.#stops) stop.abort();
    return this.#result(rounds, killed);
  }

  async #round(good: string, round: number, killed: Tally): Promise<void> {
    await this.#publish(model(-2, 1 + round / 10));
    await this.#all('reload', (version) => version !== good);
    const bad = await versionOf(this.#url(0));
    await this.#kept(2);
    for (const { url } of this.#services) {
      await until('an agreement', async () => !Number.isNaN(await agreementOf(url)));
      this.#agreements.push(await agreementOf(url));
    }
    await post(this.#url(0), '/api/v1/releases/rollback', { version: good });
    await this.#all('rollback', (version) => version === good);
    const [victim, stop] = [this.#services[0], this.#stops[0]];
    victim?.child.kill('SIGKILL');
    stop?.abort();
    const began = performance.now();
    await this.#start(0, this.#tally);
    this.#longest('start of the killed instance, until it serves the release', performance.now() - began);
    if ((await versionOf(this.#url(0))) !== good) killed.failed++;
    await post(this.#url(0), '/api/v1/releases/end', {});
    await this.#all('end', (version) => version === bad);
    // The next round begins with the good model.
    await this.#publish(FILES[MODEL]);
    await this.#all('reload', (version) => version === good);
  }

  async #start(number: number, tally: Tally): Promise<void> {
    const service = await startProcess(['--project', this.root, '--port', '0'], {
      REDIS_CLUSTER: this.nodes,
      MILLRACE_LEDGER_DIR: join(this.root, `ledger-${number}`),
    });
    const stop = new AbortController();
    this.#services[number] = service;
    this.#stops[number] = stop;
    for (let client = 0; client < CLIENTS; client++)
      void runClient(
        {
          ...{ port: service.port, request: RANKING, stop: stop.signal },
          thinkMs: () => 20,
          answered: (status) => this.#statuses.set(`${status}`, (this.#statuses.get(`${status}`) ?? 0) + 1),
        },
        tally,
      );
  }

  async #publish(text: string): Promise<void> {
    const path = join(this.root, MODEL);
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
    for (const { child } of this.#services) child.kill('SIGHUP');
  }

  /** Waits until all instances serve a version, and keeps the longest time. */
  async #all(what: string, holds: (version: string) => boolean): Promise<void> {
    const began = performance.now();
    await Promise.all(this.#services.map(({ url }) => until(what, async () => holds(await versionOf(url)))));
    this.#longest(`${what}, until all instances serve it`, performance.now() - began);
  }

  async #kept(count: number): Promise<void> {
    await until('the release', async () => {
      const text = await (await fetch(`${this.#url(0)}/api/v1/releases`)).text();
      return text.split('"is_kept":true').length > count;
    });
  }

  #longest(what: string, ms: number): void {
    this.#times.set(what, Math.max(ms, this.#times.get(what) ?? 0));
  }

  #url(number: number): string {
    return this.#services[number]?.url ?? '';
  }

  #result(rounds: number, killed: Tally): ProofResult {
    const { answered, failed, lost, causes } = this.#tally;
    // A killed process loses what it was answering: at most one request of each client.
    const mostLost = rounds * CLIENTS;
    const agreement = Math.max(...this.#agreements);
    const missed = [
      ...[...this.#times].flatMap(([what, ms]) =>
        ms > MOST_MS ? [`${what}: ${MOST_MS} ms, found ${Math.round(ms)}`] : [],
      ),
      ...(failed > 0 ? [`answers other than 200: 0, found ${failed} (${causesText(this.#statuses)})`] : []),
      ...(lost > mostLost ? [`lost requests: ${mostLost}, found ${lost} (${causesText(causes)})`] : []),
      ...(killed.failed > 0
        ? [`killed instances that came back with another version: ${killed.failed}`]
        : []),
      ...(agreement >= 0.3 ? [`agreement of a shuffled model: below 0.3, found ${agreement}`] : []),
    ];
    const markdown = [
      `${INSTANCES} instances on a Redis Cluster of 3 masters, ${CLIENTS} clients each, ${ITEMS} candidates, ${rounds} rounds; the longest times:`,
      '',
      '| step | seconds |',
      '| --- | ---: |',
      ...Array.from(this.#times, ([what, ms]) => `| ${what} | ${(ms / 1000).toFixed(1)} |`),
      '',
      `${answered} answers, ${failed} of them not 200; ${lost} requests were in flight in a process that was killed.`,
      `The highest agreement of the shuffled model was ${agreement.toFixed(2)}.`,
    ].join('\n');
    return { markdown, missed };
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop.abort();
    for (const { child, ended } of this.#services) {
      child.kill('SIGKILL');
      await ended;
    }
  }
}

async function versionOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/readyz`);
  return ((await answer.json()) as { readonly project_version: string }).project_version;
}

/** NaN if there are too few comparisons. */
async function agreementOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith('millrace_model_agreement{'));
  return line === undefined ? NaN : Number(line.split(' ')[1]);
}

async function post(url: string, path: string, body: object): Promise<void> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
}
