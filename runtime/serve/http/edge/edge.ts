import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MillraceError } from '../../../ground/api/errors.js';
import { AddressRanges } from '../../../ground/core/address-ranges.js';
import type { Rate } from '../../../ground/core/rate.js';
import type { HeadError } from '../../access/head-error.js';
import type { EdgeMetrics } from '../../metrics/edge-metrics.js';
import type { Audience } from './audience.js';
import { clientAddress } from './client-address.js';
import { HostRule } from './host-rule.js';
import { OriginRule } from './origin-rule.js';
import { RateLimits } from './rate-limits.js';

export interface EdgeSettings {
  readonly host: string;
  readonly adminHost: string;
  readonly hosts: ReadonlySet<string>;
  readonly corsOrigins: ReadonlySet<string>;
  readonly ratePerAddress: Rate | 'off';
  readonly trustedProxies: AddressRanges;
  readonly workers: number;
}

/** The key that a request presents. */
interface RequestKey {
  readonly name: string;
  readonly rate?: Rate | undefined;
}

/** Refuses requests by their head: by host, by origin, and by rate. It lives as long as the process. */
export class Edge {
  readonly #hosts: Readonly<Record<Audience, HostRule>>;
  readonly #origins: OriginRule;
  readonly #rates: RateLimits;
  readonly #proxies: AddressRanges;
  readonly #metrics: EdgeMetrics | undefined;

  constructor(settings: EdgeSettings, metrics?: EdgeMetrics) {
    const { host, adminHost, hosts, corsOrigins, ratePerAddress, trustedProxies, workers } = settings;
    this.#hosts = { clients: new HostRule(host, hosts), operators: new HostRule(adminHost, hosts) };
    this.#origins = new OriginRule(corsOrigins);
    this.#rates = new RateLimits(ratePerAddress, trustedProxies, workers);
    this.#proxies = trustedProxies;
    this.#metrics = metrics;
  }

  /** Returns the address of the client, behind the trusted proxies. */
  addressOf(req: IncomingMessage): string {
    return clientAddress(req, this.#proxies);
  }

  /** Returns why a request is refused because of its host or its origin. Adds the CORS headers to the answer. */
  faultOf(
    req: IncomingMessage,
    res: ServerResponse,
    audience: Audience,
    isHealth: boolean,
  ): HeadError | undefined {
    const unknown = this.#hosts[audience].faultOf(req, isHealth);
    if (unknown !== undefined) {
      this.#metrics?.refused('host');
      return unknown;
    }
    const foreign = this.#origins.faultOf(req, res);
    if (foreign !== undefined) this.#metrics?.refused('origin');
    return foreign;
  }

  /** True for a preflight request of an allowed origin. It asks what a page may send, and has no key. */
  isPreflight(req: IncomingMessage, res: ServerResponse): boolean {
    return this.#origins.isPreflight(req, res);
  }

  /** Answers a preflight request of an allowed origin. */
  answerPreflight(res: ServerResponse): void {
    this.#origins.answerPreflight(res);
  }

  /** True if `limit` has to be called. */
  limits(key: RequestKey | undefined): boolean {
    return this.#rates.limitsAddresses || key?.rate !== undefined;
  }

  /** Counts a request for the limits of its address and of its key. Returns why it is refused. */
  async limit(
    req: IncomingMessage,
    res: ServerResponse,
    key: RequestKey | undefined,
  ): Promise<MillraceError | undefined> {
    const ofAddress = await this.#rates.countAddress(req, res);
    if (ofAddress !== undefined) {
      this.#metrics?.refused('rate_address');
      return ofAddress;
    }
    if (key?.rate === undefined) return undefined;
    const ofKey = await this.#rates.countKey(key.name, key.rate, res);
    if (ofKey !== undefined) this.#metrics?.refused('rate_key');
    return ofKey;
  }
}

/** Answers every host and limits nothing, for services that are called in their own process. */
export function openEdge(): Edge {
  return new Edge({
    host: '0.0.0.0',
    adminHost: '0.0.0.0',
    hosts: new Set(),
    corsOrigins: new Set(),
    ratePerAddress: 'off',
    trustedProxies: AddressRanges.none,
    workers: 1,
  });
}
