import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../support/until.js';

export interface FaultAnswer {
  /** 0 if there was no answer. */
  readonly status: number;
  /** The code of a problem document, or the first cause of a degraded answer. */
  readonly told: string;
  readonly milliseconds: number;
  /** When the answer arrived, by `performance.now()`. */
  readonly at: number;
}

const ITEMS = 2000;
const CANDIDATES = 100;
const UPLOADED = 20;
const MAKERS = 20;
/** The number of consecutive good rankings after which the service counts as recovered. */
const IN_A_ROW = 30;

/** A steady open-loop load: rankings, and alternating uploads and pushes. A slow answer does not delay other requests. */
export class FaultLoad {
  readonly rankings: FaultAnswer[] = [];
  readonly writes: FaultAnswer[] = [];
  /** Address of the instance whose readiness is checked. */
  readyUrl: string;
  #running = true;
  #loops: Promise<void>[] = [];
  #turn = 0;

  constructor(
    readonly url: string,
    readonly perSecond: number,
  ) {
    this.readyUrl = url;
  }

  /** Stores every maker, item and feature. */
  async prepare(): Promise<void> {
    const makers = Array.from({ length: MAKERS }, (_, i) => ({ maker_id: `m${i}`, rating: i }));
    const must = async (send: () => Promise<FaultAnswer>): Promise<void> => {
      await until('an upload', async () => (await send()).status === 200);
    };
    await must(() => this.#post('/api/v1/entities/upload', { entity_type: 'maker', entities: makers }));
    for (let first = 0; first < ITEMS; first += 500) {
      const items = Array.from({ length: 500 }, (_, i) => first + i);
      await must(() => this.#upload(items));
      await must(() => this.#push(items));
    }
  }

  start(): void {
    const some = (count: number): number[] => {
      const first = (this.#turn = (this.#turn * 31 + 17) % ITEMS);
      return Array.from({ length: count }, (_, i) => (first + i * 7) % ITEMS);
    };
    let writes = 0;
    this.#loops = [
      this.#repeat(this.perSecond, async () => {
        const candidates = some(CANDIDATES).map((item) => ({ item_id: `i${item}` }));
        this.rankings.push(await this.#post('/api/v1/items', { candidates }));
      }),
      this.#repeat(10, async () => {
        const items = some(UPLOADED);
        this.writes.push(await (writes++ % 2 === 0 ? this.#upload(items) : this.#push(items)));
      }),
    ];
  }

  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#loops);
  }

  reset(): void {
    this.rankings.length = 0;
    this.writes.length = 0;
  }

  /** Waits until the latest answers are all good. Resolves to false after a time-out. */
  async settle(): Promise<boolean> {
    const good = (): boolean => {
      const last = this.rankings.slice(-IN_A_ROW);
      const lastWrites = this.writes.slice(-4);
      return (
        last.length === IN_A_ROW &&
        last.every(({ status, told }) => status === 200 && told === '') &&
        lastWrites.length === 4 &&
        lastWrites.every(({ status }) => status === 200)
      );
    };
    return until('good answers', good).then(
      () => true,
      () => false,
    );
  }

  /** Returns the status of /readyz, and the codes of the failure and of the warnings. */
  async readiness(): Promise<string> {
    const answer = await fetch(`${this.readyUrl}/readyz`).catch(() => undefined);
    if (answer === undefined) return 'no connection';
    const { checks, warnings = [] } = (await answer.json()) as {
      checks: { store: { code?: string } };
      warnings?: { code: string }[];
    };
    const codes = [checks.store.code, ...warnings.map(({ code }) => code)].flatMap((code) => code ?? []);
    return [String(answer.status), ...[...new Set(codes)].map((code) => `\`${code}\``)].join(' ');
  }

  #upload(items: readonly number[]): Promise<FaultAnswer> {
    const entities = items.map((item) => ({
      item_id: `i${item}`,
      version: this.#turn,
      maker: `m${item % MAKERS}`,
    }));
    return this.#post('/api/v1/entities/upload', { entity_type: 'item', entities });
  }

  #push(items: readonly number[]): Promise<FaultAnswer> {
    const rows = items.map((item) => ({ item_id: `i${item}`, boost: item }));
    return this.#post('/api/v1/features/push', { view: 'item_stats', rows });
  }

  async #post(path: string, body: object): Promise<FaultAnswer> {
    const sent = performance.now();
    let status = 0;
    let told = '';
    try {
      const answer = await fetch(this.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(20_000),
      });
      const json = (await answer.json()) as { code?: string };
      const causes = (answer.headers.get('millrace-degraded') ?? '').split(/[=,]/)[0] ?? '';
      told = json.code ?? causes;
      status = answer.status;
    } catch {
      // The status 0 means that there was no answer.
    }
    const at = performance.now();
    return { status, told, milliseconds: at - sent, at };
  }

  async #repeat(perSecond: number, send: () => Promise<void>): Promise<void> {
    const start = performance.now();
    const open = new Set<Promise<void>>();
    for (let sent = 0; this.#isRunning(); sent++) {
      const wait = start + (sent * 1000) / perSecond - performance.now();
      if (wait > 0) await pause(wait);
      const sending = send().finally(() => open.delete(sending));
      open.add(sending);
    }
    await Promise.all(open);
  }

  #isRunning(): boolean {
    return this.#running;
  }
}
