import { Redis } from 'ioredis';
import { randomNumbers } from '../../support/random-ensemble.js';

/** The stream that the source reads, and its group. */
const STREAM = 'web';
/** Comes after all messages. */
const LAST_ID = `${2n ** 64n - 1n}-${2n ** 64n - 1n}`;
const GROUP = 'millrace-web';
/** Messages of one command to Redis. */
const AT_ONCE = 500;

/** The source, but for its plugin. */
const SOURCE = 'source: web\ninto: feedback\nmap: segment\nabout: item\n';

/** The lines of a source's file that name its server. */
export function redisSource(url: string): string {
  return `use: redis_stream\nwith: { url: "${url}", stream: ${STREAM}, claim_idle: 1s, timeout: 2s }\n`;
}

/**
 * The files of a project that counts clicks and orders of a stream, in histories of users and in counters of items.
 * @param server the lines that name the server of the source
 */
export function clickFiles(server: string): Readonly<Record<string, string>> {
  return {
    'schemas/entities/item.yaml': 'entity: item\nattributes:\n  title: string\n',
    'schemas/counters/item_live.yaml': `counter: item_live
of: [item]
features:
  clicks: { event: click, window: 7d }
  sold: { event: order, window: 7d, value: sum(quantity) }
`,
    'pipelines/of_users.yaml': `pipeline: of_users
rank: item
request: { user: user }
components:
  - use: interaction
    as: history
    with:
      of: user
      with: item
      outputs:
        clicks: { event: click, window: 7d }
        sold: { event: order, window: 7d, value: items }
  - use: score
    with: { value: 'history:clicks + 10000 * history:sold' }
page: { size: 100, max_size: 100 }
`,
    'pipelines/of_all.yaml': `pipeline: of_all
rank: item
features: [item_live]
components:
  - use: score
    with: { value: 'item_live:clicks + 10000 * item_live:sold' }
page: { size: 100, max_size: 100 }
`,
    'sources/web.yaml': SOURCE + server,
  };
}

/** What a message says: a click on one item, or an order of some. */
export interface ShopEvent {
  readonly user: string;
  readonly clicked?: string;
  readonly sold?: readonly { readonly product_id: string; readonly quantity: number }[];
}

/** Draws events of users and items. Every tenth is an order, which can name an item twice. */
export function drawEvents(seed: number, users: number, items: number): () => ShopEvent {
  const random = randomNumbers(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const item = (): string => `i${below(items)}`;
  return () => {
    const user = `u${below(users)}`;
    if (below(10) > 0) return { user, clicked: item() };
    const first = item();
    const line = (id: string): { product_id: string; quantity: number } => ({
      product_id: id,
      quantity: 1 + below(3),
    });
    return { user, sold: [line(first), line(item()), line(first)] };
  };
}

/** An event as a `track` call of Segment. */
export function segmentCall(id: string, { user, clicked, sold }: ShopEvent): string {
  return JSON.stringify({
    ...{ type: 'track', messageId: id, userId: user, anonymousId: `a-${user}` },
    event: sold === undefined ? 'Product Clicked' : 'Order Completed',
    timestamp: new Date().toISOString(),
    context: { library: { name: 'analytics.js', version: '2.1.0' }, locale: 'en-GB', ip: '192.0.2.1' },
    properties: sold === undefined ? { product_id: clicked, position: 3 } : { order_id: id, products: sold },
  });
}

/** The stream of a source, seen from its server. */
export class ShopStream {
  readonly #client: Redis;
  #hidden: string | undefined;

  constructor(url: string) {
    this.#client = new Redis(url, {
      maxRetriesPerRequest: 0,
      retryStrategy: () => 50,
      enableOfflineQueue: false,
      lazyConnect: true,
    });
    this.#client.on('error', () => undefined);
  }

  connect(): Promise<void> {
    return this.#client.connect();
  }

  /** Adds messages. @throws Error if one was not acknowledged; others may be in the stream then */
  async add(messages: readonly string[]): Promise<void> {
    for (let from = 0; from < messages.length; from += AT_ONCE) {
      const pipeline = this.#client.pipeline();
      for (const message of messages.slice(from, from + AT_ONCE)) pipeline.xadd(STREAM, '*', 'data', message);
      for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error;
    }
  }

  /** Hides the messages that the group has not read, and those that are added later. */
  async hide(): Promise<void> {
    const [groups] =
      (await this.#client.multi().xinfo('GROUPS', STREAM).xgroup('SETID', STREAM, GROUP, LAST_ID).exec()) ??
      [];
    this.#hidden = String(fieldOf((groups?.[1] ?? []) as Groups, 'last-delivered-id'));
  }

  /** True if the group has settled what it has read. */
  async isIdle(): Promise<boolean> {
    return fieldOf((await this.#client.xinfo('GROUPS', STREAM)) as Groups, 'pending') === 0;
  }

  /** Shows them again. */
  async show(): Promise<void> {
    if (this.#hidden !== undefined) await this.#client.xgroup('SETID', STREAM, GROUP, this.#hidden);
    this.#hidden = undefined;
  }

  /** True if the group has settled all messages. */
  async isSettled(): Promise<boolean> {
    const groups = (await this.#client.xinfo('GROUPS', STREAM).catch(() => [])) as Groups;
    const [last] = (await this.#client.xrevrange(STREAM, '+', '-', 'COUNT', 1).catch(() => [])) as [string][];
    return fieldOf(groups, 'pending') === 0 && fieldOf(groups, 'last-delivered-id') === last?.[0];
  }

  /** The number of rejected messages. */
  rejected(): Promise<number> {
    return this.#client.xlen(`${STREAM}:rejected`);
  }

  close(): void {
    this.#client.disconnect();
  }
}

type Groups = readonly (readonly (string | number | null)[])[];

/** A field of the source's group. */
function fieldOf(groups: Groups, field: string): string | number | null | undefined {
  const group = groups.find((one) => one.includes(GROUP));
  return group?.[group.indexOf(field) + 1];
}
