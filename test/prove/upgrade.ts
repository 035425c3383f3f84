import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readRecords } from '../../runtime/state/ledger/record-reader.js';
import { startInstance, type Instance } from '../formats/instance.js';
import { newTally, postBytes, runClient } from '../support/counting-client.js';
import { writeProject } from '../support/project.js';
import { startRedisCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { repositoryPath } from '../support/repository.js';
import { until } from '../support/until.js';
import type { Proof, ProofResult } from './proof.js';
import { startBalancer, type Balancer } from './support/balancer.js';
import { buildEarlier } from './support/build-earlier.js';
import { causesText } from './support/small-service.js';

/** The commit of the version before: the last one before campaigns, drafts, releases and readers. */
const EARLIER = '3218e5be';
const CLIENTS = 6;
const ITEMS = 20;
const CLICK = 1000;
/** Of the answers of all instances, after each replacement. */
const MOST_MS = 10_000;

type Side = 'earlier' | 'current';
/** The versions of the three instances, step by step. Each step replaces one of them. */
const STEPS: readonly (readonly [Side, Side, Side])[] = [
  ['earlier', 'earlier', 'earlier'],
  ['current', 'earlier', 'earlier'],
  ['current', 'current', 'earlier'],
  ['current', 'current', 'current'],
  ['earlier', 'current', 'current'],
  ['earlier', 'earlier', 'current'],
  ['earlier', 'earlier', 'earlier'],
];

const FILES = {
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float }\n',
  'schemas/counters/heat.yaml':
    'counter: heat\nof: [item]\nfeatures: { clicks: { event: click, window: 7d } }\n',
  'curation/house.yaml': 'curation: house\nrules:\n  - { hide: [none] }\n',
  'pipelines/ranked.yaml': `pipeline: ranked
rank: item
request: { candidates: {}, user: optional(user) }
features: [heat]
log: { share: 100%, candidates: all }
components:
  - { use: score, with: { value: 'item.price + ${CLICK} * coalesce(heat:clicks, 0)' } }
  - { use: curation, with: { list: house } }
`,
};
const candidates = Array.from({ length: ITEMS }, (_, n) => ({ item_id: `i${n}` }));
const RANKING = postBytes('/api/v1/ranked', { candidates });

/** Replaces the instances of a Redis Cluster with this version and then with the one before, under load. */
export const upgrade: Proof = {
  name: 'upgrade',
  page: 'backup.md',
  summary: `the commit ${EARLIER}, this version and ${EARLIER} again, on a Redis Cluster under load`,
  run: async ({ short, earlier }) => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-'));
    try {
      const reason = earlier === undefined ? await buildEarlier(folder, EARLIER) : undefined;
      if (reason !== undefined) return { markdown: `Skipped: ${reason}.`, missed: [] };
      const stage = await Stage.open({ earlier: earlier ?? folder, current: repositoryPath() });
      try {
        return await stage.run(short ? 500 : 10_000);
      } finally {
        await stage.close();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

interface Ranked {
  readonly candidate_id: string;
  readonly ranked_score: number;
}

class Stage {
  readonly #instances: Instance[] = [];
  readonly #tally = newTally();
  readonly #stop = new AbortController();
  readonly #missed: string[] = [];
  /** By item: its price, and the clicks that were acknowledged. */
  readonly #prices = new Map(candidates.map(({ item_id: id }, n) => [id, n]));
  readonly #clicks = new Map<string, number>();
  #loads: Promise<void>[] = [];
  #isHeld = false;
  #isWriting = false;
  #writes = 0;
  #comparisons = 0;
  #direct = 0;

  private constructor(
    private readonly checkouts: Readonly<Record<Side, string>>,
    private readonly root: string,
    private readonly cluster: PrivateCluster,
    private readonly balancer: Balancer,
  ) {}

  static async open(checkouts: Readonly<Record<Side, string>>): Promise<Stage> {
    const cluster = await startRedisCluster({ masters: 3, replicas: false });
    return new Stage(checkouts, await writeProject(FILES), cluster, await startBalancer());
  }

  async run(stepMs: number): Promise<ProofResult> {
    for (const [step, sides] of STEPS.entries()) {
      for (const [slot, side] of sides.entries())
        if (STEPS[step - 1]?.[slot] !== side) await this.#replace(slot, side);
      if (step === 0) await this.#begin();
      await pause(stepMs);
      await this.#compare(step, sides.join(', '));
    }
    this.#stop.abort();
    await Promise.all(this.#loads);
    for (const instance of this.#instances) await instance.stop();
    return this.#result();
  }

  async #begin(): Promise<void> {
    const entities = Array.from(this.#prices, ([item_id, price]) => ({ item_id, price }));
    await this.#post(0, '/api/v1/entities/upload', { entity_type: 'item', entities });
    const options = {
      port: this.balancer.port,
      request: RANKING,
      thinkMs: () => 20,
      stop: this.#stop.signal,
    };
    this.#loads = [...Array.from({ length: CLIENTS }, () => runClient(options, this.#tally)), this.#write()];
  }

  /** Starts an instance, and stops the one that it replaces when the balancer knows it. */
  async #replace(slot: number, side: Side): Promise<void> {
    const before = this.#instances[slot];
    const instance = await startInstance(this.checkouts[side], {
      MILLRACE_PROJECT: this.root,
      REDIS_CLUSTER: this.cluster.addresses.map(({ host, port }) => `${host}:${port}`).join(),
      MILLRACE_LEDGER_DIR: join(this.root, 'ledgers', String(slot)),
      MILLRACE_LAME_DUCK_MS: '1000',
      // A machine that is busy is no fault of a version.
      MILLRACE_QUEUE_MS: '10000',
    });
    this.#instances[slot] = instance;
    this.balancer.instances.add(portOf(instance));
    await until('an instance that is ready', () => this.balancer.isReady(portOf(instance)));
    await before?.stop();
    if (before !== undefined) this.balancer.instances.delete(portOf(before));
  }

  /** Clicks and uploads, one after the other, each to another instance. Every fifth click is sent twice, and counts once. */
  async #write(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await pause(20);
      if (this.#isHeld) continue;
      this.#isWriting = true;
      await this.#writeOnce().catch((error: unknown) => this.#missed.push(`a write: ${String(error)}`));
      this.#isWriting = false;
    }
  }

  async #writeOnce(): Promise<void> {
    const number = this.#writes++;
    const id = `i${number % ITEMS}`;
    const event = { type: 'click', item: { item_id: id } };
    const click = { request_id: `w${number}`, user: { user_id: `u${number % 7}` }, events: [event] };
    await this.#post(number, '/api/v1/feedback', click);
    this.#clicks.set(id, (this.#clicks.get(id) ?? 0) + 1);
    if (number % 5 === 0) await this.#post(number + 1, '/api/v1/feedback', click);
    const price = (number * 7) % CLICK;
    const entities = [{ item_id: id, price }];
    await this.#post(number + 2, '/api/v1/entities/upload', { entity_type: 'item', entities });
    this.#prices.set(id, price);
  }

  /** Writes a rule at one instance, and waits until all instances give the answer that the writes lead to. */
  async #compare(step: number, sides: string): Promise<void> {
    this.#isHeld = true;
    await until('the writer', () => !this.#isWriting);
    const first = `i${step}`;
    await this.#post(step, '/api/v1/curation/put', { list: 'house', rules: [{ pin: { 1: first } }] });
    const wanted = this.#expected(first);
    for (const [at] of this.#instances.entries()) {
      let found = '';
      this.#comparisons++;
      await until('an answer', async () => (found = await this.#rank(at)) === wanted, MOST_MS).catch(() =>
        this.#missed.push(`${sides}: instance ${at} answers ${found}, expected ${wanted}`),
      );
    }
    this.#isHeld = false;
  }

  #expected(first: string): string {
    const score = (id: string): number => (this.#prices.get(id) ?? 0) + CLICK * (this.#clicks.get(id) ?? 0);
    const rest = candidates.map(({ item_id: id }) => id).filter((id) => id !== first);
    const top = Math.max(...candidates.map(({ item_id: id }) => score(id)));
    // A pinned candidate gets the score of its place. Equal scores keep the order sent.
    const order = [
      `${first}:${top}`,
      ...rest.sort((a, b) => score(b) - score(a)).map((id) => `${id}:${score(id)}`),
    ];
    return order.join(' ');
  }

  async #rank(at: number): Promise<string> {
    this.#direct++;
    const answer = (await this.#post(at, '/api/v1/ranked', {
      candidates,
      candidate_page_size: ITEMS,
      user_page_size: ITEMS,
    })) as {
      readonly ranked_candidates: readonly Ranked[];
    };
    return answer.ranked_candidates.map((one) => `${one.candidate_id}:${one.ranked_score}`).join(' ');
  }

  async #post(number: number, path: string, body: object): Promise<unknown> {
    const ready = this.#instances.filter((one) => this.balancer.isReady(portOf(one)));
    const some = ready.length > 0 ? ready : this.#instances;
    const { url } = some[number % some.length] as Instance;
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  }

  async #result(): Promise<ProofResult> {
    const { answered, failed, lost, causes } = this.#tally;
    const ledgers = join(this.root, 'ledgers');
    const counts = { ranking: 0, feedback: 0, history: 0 };
    for await (const { kind } of readRecords(ledgers)) counts[kind]++;
    const stats = spawnSync(
      process.execPath,
      [
        join(this.checkouts.earlier, 'dist/runtime/cli/bin.js'),
        'ledger',
        'stats',
        '--ledger',
        ledgers,
        '--json',
      ],
      { encoding: 'utf8', cwd: this.root },
    );
    const wanted = answered - failed + this.#direct;
    const byEarlier = stats.status === 0 ? rankingsIn(stats.stdout) : stats.stderr;
    const missed = [
      ...this.#missed,
      ...(failed > 0 ? [`answers other than 200: 0, found ${failed}`] : []),
      ...(lost > 0 ? [`lost requests: 0, found ${lost} (${causesText(causes)})`] : []),
      ...(this.balancer.turnedAway() > 0
        ? [`connections without an instance: ${this.balancer.turnedAway()}`]
        : []),
      ...(counts.ranking === wanted ? [] : [`rankings in the ledger: ${wanted}, found ${counts.ranking}`]),
      ...(byEarlier === wanted ? [] : [`rankings that ${EARLIER} reads: ${wanted}, found ${byEarlier}`]),
    ];
    const markdown = [
      `3 instances on a Redis Cluster of 3 masters, ${CLIENTS} clients, and a writer of clicks and entities. ${STEPS.length - 1} times an instance of`,
      `${EARLIER} is replaced by one of this version, or the reverse; then a rule is written, and all instances have to give the same answer.`,
      '',
      '| rankings | not 200 | lost | clicks | comparisons | different | rankings in the ledger, read by both |',
      '| --: | --: | --: | --: | --: | --: | --: |',
      `| ${answered} | ${failed} | ${lost} | ${this.#writes} | ${this.#comparisons} | ${this.#missed.length} | ${counts.ranking} |`,
    ].join('\n');
    return { markdown, missed };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loads);
    for (const instance of this.#instances) await instance.stop();
    await this.balancer.close();
    await this.cluster.remove();
    await rm(this.root, { recursive: true, force: true });
  }
}

/** @param stats what `ledger stats --json` prints */
function rankingsIn(stats: string): number {
  const { counts } = JSON.parse(stats) as {
    readonly counts: { readonly ranking: Readonly<Record<string, Readonly<Record<string, number>>>> };
  };
  return Object.values(counts.ranking['ranked'] ?? {}).reduce((sum, count) => sum + count, 0);
}

function portOf({ url }: Instance): number {
  return Number(new URL(url).port);
}
