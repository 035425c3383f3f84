import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { MillraceError } from '../../../ground/api/errors.js';
import type { AddressRanges } from '../../../ground/core/address-ranges.js';
import { shareOfRate, type Rate } from '../../../ground/core/rate.js';
import { clientAddress, networkOf } from './client-address.js';

/** The maximum number of addresses or keys that are counted at a time. Each needs about 500 bytes. */
export const MOST_COUNTED = 50_000;

/** What a limit counts by; a label of /metrics and the name of the policy in the headers. */
export type LimitKind = 'address' | 'key';

/** The limits of requests by client address and by key. */
export class RateLimits {
  readonly #address: Counter | undefined;
  readonly #proxies: AddressRanges;
  readonly #workers: number;
  /** One counter for each rate that a key has. */
  readonly #byRate = new Map<string, Counter>();

  /** @param workers each of so many processes allows its share of the rate of a key */
  constructor(perAddress: Rate | 'off', proxies: AddressRanges, workers: number) {
    this.#address = perAddress === 'off' ? undefined : new Counter('address', perAddress);
    this.#proxies = proxies;
    this.#workers = workers;
  }

  /** True if addresses are limited. */
  get limitsAddresses(): boolean {
    return this.#address !== undefined;
  }

  /** Counts a request of an address. Returns why it is refused. */
  async countAddress(req: IncomingMessage, res: ServerResponse): Promise<MillraceError | undefined> {
    return this.#address?.count(networkOf(clientAddress(req, this.#proxies)), res);
  }

  /** Counts a request of a key. Returns why it is refused. */
  async countKey(key: string, rate: Rate, res: ServerResponse): Promise<MillraceError | undefined> {
    const name = `${rate.requests}/${rate.seconds}`;
    let counter = this.#byRate.get(name);
    if (counter === undefined)
      this.#byRate.set(name, (counter = new Counter('key', shareOfRate(rate, this.#workers))));
    return counter.count(key, res);
  }
}

/** Counts requests in fixed windows, and forgets the oldest client when it counts too many. */
class Counter {
  /** The package takes 30 ms to load, so a service without limits does not load it. */
  readonly #loading: Promise<RateLimiterMemory>;
  #loaded: RateLimiterMemory | undefined;
  readonly #clients = new Set<string>();
  /** Yields the clients in the order in which they came. A new iterator would first skip all clients that were deleted. */
  readonly #oldest = this.#clients.values();
  readonly #policy: string;

  constructor(
    private readonly kind: LimitKind,
    private readonly rate: Rate,
  ) {
    this.#loading = load(rate);
    this.#loading.then(
      (limiter) => (this.#loaded = limiter),
      () => undefined, // `count` reports it
    );
    this.#policy = `"${kind}";q=${rate.requests};w=${rate.seconds}`;
  }

  async count(client: string, res: ServerResponse): Promise<MillraceError | undefined> {
    const limiter = this.#loaded ?? (await this.#loading);
    this.#remember(client, limiter);
    let state: RateLimiterRes;
    let isRefused = false;
    try {
      state = await limiter.consume(client);
    } catch (refused) {
      if (refused instanceof Error) throw refused;
      state = refused as RateLimiterRes;
      isRefused = true;
    }
    const seconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
    // draft-ietf-httpapi-ratelimit-headers-10
    res.setHeader('RateLimit-Policy', this.#policy);
    res.setHeader('RateLimit', `"${this.kind}";r=${state.remainingPoints};t=${seconds}`);
    if (!isRefused) return undefined;
    res.setHeader('Retry-After', seconds);
    const { requests, seconds: window } = this.rate;
    return new MillraceError(
      'rate_limited',
      `this ${this.kind} sent more than ${requests} requests within ${window} s; the next is accepted in ${seconds} s`,
    );
  }

  #remember(client: string, limiter: RateLimiterMemory): void {
    if (this.#clients.has(client)) return;
    if (this.#clients.size >= MOST_COUNTED) {
      const oldest = String(this.#oldest.next().value);
      this.#clients.delete(oldest);
      void limiter.delete(oldest);
    }
    this.#clients.add(client);
  }
}

async function load({ requests, seconds }: Rate): Promise<RateLimiterMemory> {
  const { RateLimiterMemory: Limiter } = await import('rate-limiter-flexible');
  return new Limiter({ points: requests, duration: seconds });
}
