import type { Changes, Coherence } from '../../resident/coherence.js';
import { addressText, type MasterAddress, type RedisMasters } from './masters.js';
import { TrackingLink } from './tracking-link.js';

export interface TrackingSettings {
  /** Starts of the keys to be told of. */
  readonly prefixes: readonly string[];
  /** How old the last sign of life of each server may be, in milliseconds. */
  readonly leaseMs: number;
}

/** Pauses before a lost link is made anew, in milliseconds. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 1000;

/** Tells of writes to a Redis by any client: a link to each of its masters. */
export class RedisTracking implements Coherence {
  readonly #masters: RedisMasters;
  readonly #settings: TrackingSettings;
  readonly #links = new Map<string, TrackingLink>();
  readonly #pauses = new Map<string, number>();
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

  /** Reads under way while the masters change may be answered by either the old or the new ones: nothing is kept of them. */
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
    const link = new TrackingLink(redis, prefixes, changes, leaseMs, () => {
      if (this.#links.get(address) !== link) return;
      this.#links.delete(address);
      this.#again(master, link.wasArmed);
    });
    this.#links.set(address, link);
  }

  /** Pauses grow while the server takes no link. */
  #again(master: MasterAddress, wasArmed: boolean): void {
    const address = addressText(master);
    const before = wasArmed ? undefined : this.#pauses.get(address);
    const pause = before === undefined ? FIRST_PAUSE : Math.min(2 * before, LONGEST_PAUSE);
    this.#pauses.set(address, pause);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#link(master);
    }, pause);
    timer.unref();
    this.#timers.add(timer);
  }
}
