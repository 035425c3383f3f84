import type { RedisObserver } from '../../project/settings/redis-observer.js';

/** A connection that recovers within this time does not count as an outage, in milliseconds. */
const GRACE = 300;

/** Receives the events of the monitor, one log line for each event. */
export interface StoreLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Problems that do not stop the store but should be fixed. */
export const STORE_WARNINGS = {
  store_evicts: 'Redis evicts keys when its memory is full: set maxmemory-policy noeviction',
  schemas_differ: 'another service uses the prefix with other schemas',
  settings_differ: 'another instance has other values of settings that all instances share',
  values_misfit: 'stored values do not fit the schemas of this project',
  store_emptied: 'the store had entities or features, and has none now',
} as const;

export type StoreWarningCode = keyof typeof STORE_WARNINGS;

export interface StoreWarning {
  readonly code: StoreWarningCode;
  readonly detail: string;
}

/** The result of checking a sample of the stored entities of one type. */
export interface StoredSample {
  readonly records: number;
  /** By attribute: the number of values that do not fit the schema. */
  readonly misfits: ReadonlyMap<string, number>;
}

interface Outage {
  /** Connections that are down. */
  readonly connections: Set<object>;
  readonly since: number;
  /** Undefined after the outage is logged. */
  grace: NodeJS.Timeout | undefined;
}

/** Tracks the state of the store for the log, the metrics and the readiness check. */
export class StoreMonitor implements RedisObserver {
  /** The number of reads that were retried because their connection broke. */
  retries = 0;
  /** The number of times that a server was lost for longer than GRACE. */
  outages = 0;
  /** The share of the maxmemory that is used, on the fullest server; undefined without a maxmemory. */
  memoryUsed: number | undefined;
  readonly #log: StoreLog;
  readonly #outages = new Map<string, Outage>();
  readonly #serverOf = new Map<object, string>();
  /** By entity type: the latest sample. */
  readonly samples = new Map<string, StoredSample>();
  /** By code and subject. */
  readonly #warnings = new Map<string, StoreWarning>();

  constructor(log: StoreLog) {
    this.#log = log;
  }

  /** False while a server is lost. */
  get isUp(): boolean {
    for (const { grace } of this.#outages.values()) if (grace === undefined) return false;
    return true;
  }

  lost(connection: object, server: string, reason: () => string): void {
    this.#serverOf.set(connection, server);
    const known = this.#outages.get(server);
    if (known !== undefined) {
      known.connections.add(connection);
      return;
    }
    const outage: Outage = {
      connections: new Set([connection]),
      since: performance.now(),
      grace: setTimeout(() => {
        outage.grace = undefined;
        this.outages++;
        this.#log.warn({ server, reason: reason() }, 'the store is lost');
      }, GRACE).unref(),
    };
    this.#outages.set(server, outage);
  }

  ready(connection: object): void {
    const server = this.#up(connection);
    const outage = server === undefined ? undefined : this.#outages.get(server);
    if (server === undefined || outage === undefined || outage.connections.size > 0) return;
    this.#end(server, outage);
    if (outage.grace === undefined)
      this.#log.info(
        { server, down_ms: Math.round(performance.now() - outage.since) },
        'the store answers again',
      );
  }

  closed(connection: object): void {
    const server = this.#up(connection);
    const outage = server === undefined ? undefined : this.#outages.get(server);
    if (server !== undefined && outage?.connections.size === 0) this.#end(server, outage);
  }

  retried(): void {
    this.retries++;
  }

  evicts(policy: string | undefined): void {
    this.setWarning(
      'store_evicts',
      '',
      policy &&
        `maxmemory-policy is ${policy}: a full Redis evicts entities and features, first those that are cached in the ` +
          'process, since nobody reads them. Set it to noeviction',
    );
  }

  memoryUse(share: number | undefined): void {
    this.memoryUsed = share;
  }

  newMasters(masters: readonly string[]): void {
    this.#log.warn({ masters }, 'the store has new masters');
  }

  /**
   * Sets a warning, or removes it if `detail` is undefined. A new detail is logged.
   * @param subject distinguishes warnings with the same code
   */
  setWarning(code: StoreWarningCode, subject: string, detail: string | undefined): void {
    const key = `${code} ${subject}`;
    if (detail === undefined) {
      this.#warnings.delete(key);
      return;
    }
    if (this.#warnings.get(key)?.detail === detail) return;
    this.#warnings.set(key, { code, detail });
    this.#log.warn({ code, ...(subject === '' ? {} : { subject }) }, detail);
  }

  /** Removes the warnings of a code, except those of the given subjects. */
  keepWarnings(code: StoreWarningCode, subjects: ReadonlySet<string>): void {
    for (const key of [...this.#warnings.keys()])
      if (key.startsWith(`${code} `) && !subjects.has(key.slice(code.length + 1))) this.#warnings.delete(key);
  }

  sampled(type: string, records: number, misfits: ReadonlyMap<string, number>): void {
    this.samples.set(type, { records, misfits });
  }

  warnings(): readonly StoreWarning[] {
    return [...this.#warnings.values()];
  }

  #up(connection: object): string | undefined {
    const server = this.#serverOf.get(connection);
    this.#serverOf.delete(connection);
    if (server !== undefined) this.#outages.get(server)?.connections.delete(connection);
    return server;
  }

  #end(server: string, { grace }: Outage): void {
    clearTimeout(grace);
    this.#outages.delete(server);
  }
}
