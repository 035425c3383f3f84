import type { Changes, Coherence } from '../coherence.js';
import { addressText, type RedisMasters } from './masters.js';
import type { MasterAddress } from '../../../project/settings/redis-address.js';
import { TrackingLink, type MarkerLink } from './tracking-link.js';

export interface TrackingSettings {
  /** Prefixes of the keys to track. */
  readonly prefixes: readonly string[];
  /** Maximum age of the last answer of each server, in milliseconds. */
  readonly leaseMs: number;
  /** The key that identifies the selected database; undefined if there is only one database, as in a cluster. */
  readonly markerKey?: string;
  /** Called once if a server refuses to track, and again if it refuses after it has tracked. */
  readonly warn?: (message: string) => void;
}

/** Shortest and longest pause before a lost link is replaced, in milliseconds. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 1000;
/** Pause before a retry after a server refused, in milliseconds: someone must change the permissions first. */
const REFUSED_PAUSE = 10_000;

/** Reports writes by any client, with one link to each master. */
export class RedisTracking implements Coherence {
  readonly #masters: RedisMasters;
  readonly #settings: TrackingSettings;
  readonly #links = new Map<string, TrackingLink>();
  readonly #pauses = new Map<string, number>();
  readonly #refusing = new Set<string>();
  readonly #unmarked = new Set<string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #wanted: ReadonlySet<string> = new Set();
  #changes: Changes | undefined;
  #stopListening = (): void => undefined;

  constructor(masters: RedisMasters, settings: TrackingSettings) {
    this.#masters = masters;
    this.#settings = settings;
  }

  start(changes: Changes): void {
    this.#changes = changes;
    this.#stopListening = this.#masters.on('change', (masters) => this.#follow(masters));
    this.#follow(this.#masters.current());
  }

  isCurrent(): boolean {
    if (this.#wanted.size === 0 || this.#links.size < this.#wanted.size) return false;
    const now = performance.now();
    for (const link of this.#links.values()) if (!link.isCurrent(now)) return false;
    return true;
  }

  renew(): Promise<boolean> | undefined {
    if (this.#wanted.size === 0 || this.#links.size < this.#wanted.size) return undefined;
    const renewals: Promise<boolean>[] = [];
    for (const link of this.#links.values()) {
      const renewal = link.renew();
      if (renewal === undefined) return undefined;
      renewals.push(renewal);
    }
    return Promise.all(renewals).then((told) => told.every(Boolean));
  }

  close(): void {
    this.#stopListening();
    this.#changes = undefined;
    this.#wanted = new Set();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  /** Old or new masters may answer reads in flight while the masters change, so none of these reads is cached. */
  #follow(masters: readonly MasterAddress[]): void {
    this.#changes?.flush();
    this.#wanted = new Set(masters.map(addressText));
    for (const [address, link] of [...this.#links]) {
      if (this.#wanted.has(address)) continue;
      this.#links.delete(address);
      link.close();
    }
    for (const master of masters) this.#link(master);
  }

  #link(master: MasterAddress): void {
    const address = addressText(master);
    const changes = this.#changes;
    if (changes === undefined || !this.#wanted.has(address) || this.#links.has(address)) return;
    const { prefixes, leaseMs } = this.#settings;
    const redis = this.#masters.connect(master, 'track');
    const link = new TrackingLink([redis, this.#marker(master)], prefixes, changes, leaseMs, (refusal) => {
      if (this.#links.get(address) !== link) return;
      this.#links.delete(address);
      if (link.wasArmed) this.#refusing.delete(address);
      if (refusal === undefined) this.#again(master, this.#pauseAfter(address, link.wasArmed));
      else this.#refused(master, refusal);
    });
    this.#links.set(address, link);
  }

  #marker(master: MasterAddress): MarkerLink | undefined {
    const { markerKey: key, warn } = this.#settings;
    if (key === undefined) return undefined;
    const address = addressText(master);
    return {
      redis: this.#masters.connect(master, 'marker'),
      key,
      refused: ({ message }) => {
        if (!this.#unmarked.has(address)) warn?.(unmarkedText(address, key, message));
        this.#unmarked.add(address);
      },
    };
  }

  /** The pause grows while the server accepts no link. */
  #pauseAfter(address: string, wasArmed: boolean): number {
    const before = wasArmed ? undefined : this.#pauses.get(address);
    const pause = before === undefined ? FIRST_PAUSE : Math.min(2 * before, LONGEST_PAUSE);
    this.#pauses.set(address, pause);
    return pause;
  }

  #refused(master: MasterAddress, refusal: Error): void {
    const address = addressText(master);
    if (!this.#refusing.has(address)) this.#settings.warn?.(refusalText(address, refusal));
    this.#refusing.add(address);
    this.#again(master, REFUSED_PAUSE);
  }

  #again(master: MasterAddress, pause: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#link(master);
    }, pause);
    timer.unref();
    this.#timers.add(timer);
  }
}

function unmarkedText(address: string, key: string, message: string): string {
  return (
    `Redis at ${address} does not let this user mark the database (${message}): after SWAPDB, rankings show entities of the ` +
    `database before until they are written. Give the user GET, SET and EVAL on the key ${key}`
  );
}

function refusalText(address: string, { message }: Error): string {
  return (
    `Redis at ${address} refuses to tell of changes (${message}): no entity is kept in the process, and every ranking reads ` +
    'from Redis. It needs Redis 6.2 or later, and a user with +client|tracking +client|id +subscribe +ping ' +
    '&__redis__:invalidate; or set MILLRACE_RESIDENT=off'
  );
}
