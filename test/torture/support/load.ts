import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../support/until.js';
import { boostOf, History, MAKERS, ratingOf, type Answer } from './history.js';

/** How hard the service is worked; rates are open: a slow answer does not slow the next request. */
export interface LoadShape {
  readonly items: number;
  readonly rankingsPerSecond: number;
  readonly candidates: number;
  readonly uploadsPerSecond: number;
  readonly itemsPerUpload: number;
}

/** An answer that has not come after so many milliseconds counts as a broken connection: nothing waits for ever. */
const GIVEN_UP = 20_000;
/** Most requests that wait at once: beyond, none is sent, and that is counted. */
const MOST_OPEN = 1000;

/** Rankings and uploads against a running service, each answer checked. */
export class Load {
  readonly history: History;
  readonly rankings: Answer[] = [];
  readonly uploads: Answer[] = [];
  held = 0;
  readonly #delay = monitorEventLoopDelay({ resolution: 5 });
  #open = 0;
  #running = true;
  #loops: Promise<void>[] = [];
  #turn = 0;
  /** Items of open uploads. Which of two open at once is stored last is not promised, so there are no two. */
  readonly #writing = new Set<number>();

  constructor(
    readonly url: string,
    readonly shape: LoadShape,
  ) {
    this.history = new History(shape.items);
  }

  /** Makers, features and the first version of every item. */
  async prepare(): Promise<void> {
    const makers = Array.from({ length: MAKERS }, (_, i) => ({ maker_id: `m${i}`, rating: ratingOf(i) }));
    await this.#must('/api/v1/entities/upload', { entity_type: 'maker', entities: makers });
    for (let first = 0; first < this.shape.items; first += 500) {
      const items = Array.from({ length: Math.min(500, this.shape.items - first) }, (_, i) => first + i);
      const rows = items.map((item) => ({ item_id: `i${item}`, boost: boostOf(item) }));
      await this.#must('/api/v1/features/push', { view: 'item_stats', rows });
      if ((await this.upload(items)).status !== 200) throw new Error('the first upload failed');
    }
    this.uploads.length = 0;
  }

  start(): void {
    this.#delay.enable();
    const { rankingsPerSecond, uploadsPerSecond, items, candidates, itemsPerUpload } = this.shape;
    const some = (count: number): number[] => {
      const first = (this.#turn = (this.#turn * 31 + 17) % items);
      return Array.from({ length: count }, (_, i) => (first + i * 7) % items);
    };
    this.#loops = [
      this.#repeat(rankingsPerSecond, () => this.rank([...new Set(some(candidates))])),
      this.#repeat(uploadsPerSecond, () => this.upload([...new Set(some(itemsPerUpload))])),
    ];
  }

  /** Stops sending, and waits for what is open. */
  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#loops);
    await until('the last answers', () => this.#open === 0, 2 * GIVEN_UP);
  }

  /** The longest that this process itself was held up, ms: what the machine, shared as it is, adds to an answer. */
  get heldUp(): number {
    return this.#delay.max / 1e6;
  }

  async rank(items: readonly number[]): Promise<Answer> {
    const floors = items.map((item) => this.history.acknowledged(item));
    const body = { candidates: items.map((item) => ({ item_id: `i${item}` })) };
    const { answer, json } = await this.#post('/api/v1/items', body);
    this.rankings.push(answer);
    if (answer.status !== 200) return answer;
    const ranked = json.ranked_candidates as { candidate_id: string; ranked_score: number }[];
    const scores = new Map(ranked.map((one) => [one.candidate_id, one.ranked_score]));
    items.forEach((item, i) => this.history.judge(item, floors[i] ?? 0, scores.get(`i${item}`) ?? NaN));
    return answer;
  }

  async upload(wanted: readonly number[]): Promise<Answer> {
    const items = wanted.filter((item) => !this.#writing.has(item));
    for (const item of items) this.#writing.add(item);
    const versions = items.map((item) => this.history.next(item));
    const entities = items.map((item, i) => ({
      item_id: `i${item}`,
      version: versions[i],
      maker: `m${item % MAKERS}`,
    }));
    const { answer, json } = await this.#post('/api/v1/entities/upload', { entity_type: 'item', entities });
    this.uploads.push(answer);
    for (const item of items) this.#writing.delete(item);
    const stored = answer.status === 200 ? undefined : new Set((json.stored_ids ?? []) as string[]);
    items.forEach((item, i) => {
      if (stored === undefined || stored.has(`i${item}`)) this.history.acknowledge(item, versions[i] ?? 0);
    });
    return answer;
  }

  /** Ranks every item once, and judges it; false if a page of them is not answered within half a minute. */
  async check(): Promise<boolean> {
    for (let first = 0; first < this.shape.items; first += 500) {
      const items = Array.from({ length: Math.min(500, this.shape.items - first) }, (_, i) => first + i);
      try {
        await until('an answer for each item', async () => (await this.rank(items)).status === 200);
      } catch (error) {
        console.error(String(error));
        return false;
      }
    }
    return true;
  }

  async #repeat(perSecond: number, send: () => Promise<unknown>): Promise<void> {
    const start = performance.now();
    for (let sent = 0; this.#running; sent++) {
      const wait = start + (sent * 1000) / perSecond - performance.now();
      if (wait > 0) await pause(wait);
      if (!this.#isRunning()) return;
      if (this.#open >= MOST_OPEN) this.held++;
      else void send();
    }
  }

  #isRunning(): boolean {
    return this.#running;
  }

  async #must(path: string, body: object): Promise<void> {
    const { answer, json } = await this.#post(path, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(json)}`);
  }

  async #post(path: string, body: object): Promise<{ answer: Answer; json: Record<string, unknown> }> {
    const sent = performance.now();
    this.#open++;
    const end = (status: number, code: string): Answer => {
      const at = performance.now();
      return { status, code, milliseconds: at - sent, at };
    };
    try {
      const response = await fetch(this.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(GIVEN_UP),
      });
      const json = (await response.json()) as Record<string, unknown>;
      const code = response.status === 200 ? '' : String(json.code);
      const untold = response.status === 503 && response.headers.get('retry-after') === null;
      return { answer: end(response.status, untold ? `${code} without Retry-After` : code), json };
    } catch (error) {
      return { answer: end(0, String((error as Error).cause ?? error)), json: {} };
    } finally {
      this.#open--;
    }
  }
}
