import { Counter, Gauge, type Registry } from 'prom-client';

/** What the metrics tell about a key. */
export interface CountedKey {
  readonly id: string;
  readonly name: string;
}

interface Uses {
  readonly key: CountedKey;
  readonly class: string;
  readonly status: number;
  count: number;
}

/**
 * Counts the requests of each key. The id tells the old key from the new one while a key is rotated: the old one can be
 * revoked when its count stands still. Wrong keys are not counted here, so clients cannot add labels.
 */
export class KeyMetrics {
  readonly #uses = new Map<string, Uses>();

  constructor(registry: Registry) {
    const uses = this.#uses;
    new Counter({
      name: 'millrace_key_requests_total',
      help: 'Requests by the name and the id of their key, the class of their route and their status.',
      labelNames: ['key', 'key_id', 'class', 'status'],
      registers: [registry],
      // Requests add to plain numbers, which costs almost nothing.
      collect() {
        this.reset();
        for (const { key, class: requestClass, status, count } of uses.values())
          this.inc({ key: key.name, key_id: key.id, class: requestClass, status }, count);
      },
    });
  }

  used(key: CountedKey, requestClass: string, status: number): void {
    const name = `${key.id} ${requestClass} ${status}`;
    const uses = this.#uses.get(name);
    if (uses === undefined) this.#uses.set(name, { key, class: requestClass, status, count: 1 });
    else uses.count++;
  }
}

/** The keys in service. */
export interface KeysSource {
  readonly keys: readonly (CountedKey & { readonly expires?: number; readonly revoked?: number })[];
  readonly isDamaged: boolean;
}

/** Adds the metrics of the keys file to a registry. */
export function countKeys(registry: Registry, source: KeysSource): void {
  const registers = [registry];
  new Gauge({
    name: 'millrace_keys_file_damaged',
    help: '1 if the keys file is damaged or gone and the keys read before are in service, otherwise 0; only with keys.',
    aggregator: 'max',
    registers,
    collect() {
      this.set(source.isDamaged ? 1 : 0);
    },
  });
  new Gauge({
    name: 'millrace_key_expires_timestamp_seconds',
    help: 'When a key expires, in seconds since the epoch; only keys that expire and are not revoked.',
    labelNames: ['key', 'key_id'],
    aggregator: 'max',
    registers,
    collect() {
      this.reset();
      for (const { id, name, expires, revoked } of source.keys)
        if (expires !== undefined && revoked === undefined)
          this.set({ key: name, key_id: id }, expires / 1000);
    },
  });
}
