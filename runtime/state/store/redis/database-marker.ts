import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { isReply } from './failure.js';

/** Interval at which the value changes, and its random jitter, in milliseconds. With it, usually one instance writes. */
const ROTATE_EVERY = 30_000;
const ROTATE_SPREAD = 10_000;

/** Replaces the value, unless another instance has already replaced it. */
const ROTATE = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end redis.call('SET', KEYS[1], ARGV[2]) return 1`;

/**
 * Detects that the selected database was replaced by SWAPDB, which sends no invalidations. A key of each database has a
 * random value. A database may be copied key by key before it is swapped in, so the value changes regularly and contains
 * the previous one: `new old`. A copy that is older than two changes has a different value.
 */
export class DatabaseMarker {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #refused: (error: Error) => void;
  /** Undefined before the first check; null if the key is missing and cannot be written. */
  #value: string | null | undefined;
  #rotateAt = rotationTime();
  #isRefused = false;

  /**
   * @param redis connected
   * @param refused called once if the server does not let this user read or write the key
   */
  constructor(redis: Redis, key: string, refused: (error: Error) => void) {
    this.#redis = redis;
    this.#key = key;
    this.#refused = refused;
  }

  /**
   * Whether the database is the same as at the previous call. True at the first call, and if the user may not read the key.
   * @throws Error if the connection is lost
   */
  async isSame(): Promise<boolean> {
    if (this.#isRefused) return true;
    try {
      const found = await this.#redis.get(this.#key);
      const known = this.#value;
      if (found !== known && !(found !== null && follows(found, known))) {
        this.#value = found ?? (await this.#write());
        return known === undefined;
      }
      this.#value = found;
      if (performance.now() >= this.#rotateAt) await this.#rotate();
      return true;
    } catch (error) {
      // Other error replies (a loading or demoted server) count as a different database.
      if (!isReply(error)) throw error;
      if (/^NOPERM/.test(error.message)) {
        this.#isRefused = true;
        this.#refused(error);
      }
      return this.#isRefused;
    }
  }

  /** Sets the key if it is missing. Returns its value; null if the server refuses the write. */
  async #write(): Promise<string | null> {
    this.#rotateAt = rotationTime();
    try {
      await this.#redis.set(this.#key, `${randomId()} -`, 'NX');
      return await this.#redis.get(this.#key);
    } catch (error) {
      if (!isReply(error) || /^NOPERM/.test(error.message)) throw error;
      return null;
    }
  }

  async #rotate(): Promise<void> {
    this.#rotateAt = rotationTime();
    const known = this.#value;
    if (known === null || known === undefined) {
      this.#value = await this.#write();
      return;
    }
    const next = `${randomId()} ${idOf(known)}`;
    const done = await this.#redis.eval(ROTATE, 1, this.#key, known, next).catch((error: unknown) => {
      if (!isReply(error)) throw error;
      return 0; // it keeps its value
    });
    if (done === 1 && this.#value === known) this.#value = next;
  }
}

function rotationTime(): number {
  return performance.now() + ROTATE_EVERY + ROTATE_SPREAD * Math.random();
}

function randomId(): string {
  return randomBytes(12).toString('hex');
}

function idOf(value: string): string {
  return value.split(' ', 1)[0] ?? '';
}

/** Whether a value is the successor of another. */
function follows(value: string, before: string | null | undefined): boolean {
  return typeof before === 'string' && value.split(' ')[1] === idOf(before);
}
