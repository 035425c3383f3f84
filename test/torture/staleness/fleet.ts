import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { createApp } from '../../../runtime/serve/app/app.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';
import { writeProject } from '../../support/project.js';
import { idOf, type Command, type InstanceData, type PhaseFigures } from './instance-data.js';
import { SharedHistory } from './shared-history.js';

const INSTANCES = 2;
const WRITERS = 4;
const READERS = 2;

const FILES = {
  'schemas/entities/item.yaml': `entity: item
attributes: { v: int, w: int, text: string }
`,
  'schemas/features/stats.yaml': `view: stats
of: [item]
features: { v: int, w: int }
`,
  'pipelines/versions.yaml': `pipeline: versions
rank: item
request: { candidates: {} }
limits: { candidates: 1000, time: 20s }
features: [stats]
components:
  - use: score
    with:
      value: if(item.v == item.w and stats:v == stats:w, item.v * 10000000 + stats:v, -1)
page: { size: 100, max_size: 1000 }
`,
};

/** Instances in threads over one Redis, and what their writers have been acknowledged. */
export class Fleet {
  readonly history: SharedHistory;
  readonly #root: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #workers: Worker[] = [];

  private constructor(root: string, env: NodeJS.ProcessEnv, items: number) {
    this.#root = root;
    this.#env = env;
    this.history = new SharedHistory(items);
  }

  /**
   * Writes the first version of every item, and starts two instances.
   * @param env says where Redis is
   */
  static async start(env: NodeJS.ProcessEnv, items: number): Promise<Fleet> {
    const fleet = new Fleet(await writeProject(FILES), { LOG_LEVEL: 'silent', ...env }, items);
    await fleet.#writeFirstVersions();
    for (let number = 0; number < INSTANCES; number++) fleet.#workers.push(await fleet.#instance(number, {}));
    return fleet;
  }

  /** Runs readers and writers on all instances. */
  async run(phase: { readonly milliseconds: number; readonly calls: number }): Promise<PhaseFigures[]> {
    const asked = this.#workers.map((worker) => ask(worker, { do: 'run', ...phase }));
    return (await Promise.all(asked)) as PhaseFigures[];
  }

  /** By instance: the version of every item that a ranking there shows. */
  async versions(): Promise<number[][]> {
    return (await Promise.all(this.#workers.map((worker) => ask(worker, { do: 'versions' })))) as number[][];
  }

  /** The version of every item that Redis holds, as an instance tells it that keeps nothing. */
  async stored(): Promise<number[]> {
    const worker = await this.#instance(INSTANCES, { MILLRACE_RESIDENT: 'off' });
    try {
      return (await ask(worker, { do: 'versions' })) as number[];
    } finally {
      await ask(worker, { do: 'stop' });
      await worker.terminate();
    }
  }

  /** Ends the instances as they would end themselves. */
  async stop(): Promise<void> {
    for (const worker of this.#workers) await ask(worker, { do: 'stop' });
  }

  async remove(): Promise<void> {
    for (const worker of this.#workers) await worker.terminate();
    await rm(this.#root, { recursive: true, force: true });
  }

  async #writeFirstVersions(): Promise<void> {
    const app = await createApp(loadSettings(this.#env, { project: this.#root }));
    const { items } = this.history;
    for (let first = 0; first < items; first += 1000) {
      const ids = Array.from({ length: Math.min(1000, items - first) }, (_, i) => idOf(first + i));
      await app.entities.upload({
        entity_type: 'item',
        entities: ids.map((item_id) => ({ item_id, v: 0, w: 0, text: 'version 0' })),
      });
      await app.features.push({ view: 'stats', rows: ids.map((item_id) => ({ item_id, v: 0, w: 0 })) });
    }
    await app.close();
  }

  async #instance(number: number, more: NodeJS.ProcessEnv): Promise<Worker> {
    const workerData: InstanceData = {
      project: this.#root,
      env: { ...this.#env, ...more },
      number,
      instances: INSTANCES,
      writers: WRITERS,
      readers: READERS,
      memory: this.history.memory,
      items: this.history.items,
    };
    const worker = new Worker(new URL('./instance.js', import.meta.url), { workerData });
    await once(worker, 'message');
    return worker;
  }
}

async function ask(worker: Worker, command: Command): Promise<unknown> {
  const answered = once(worker, 'message');
  worker.postMessage(command);
  const [result] = (await answered) as [unknown];
  return result;
}
