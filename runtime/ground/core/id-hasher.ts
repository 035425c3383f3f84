import { createHmac } from 'node:crypto';

/** Bytes of the HMAC that are kept: 128 bits, so that no two ids of a project share a hash in practice. */
const KEPT = 16;

/**
 * Replaces the ids of some entity types in events and logs. The same id of the same type always gets the same hash, so
 * that events still join. Without the salt nobody can compute the hash of a guessed id.
 */
export class IdHasher {
  readonly #salt: string;
  readonly #types: ReadonlySet<string>;

  constructor(salt: string, types: ReadonlySet<string>) {
    this.#salt = salt;
    this.#types = types;
  }

  /** The types whose ids are replaced. */
  get types(): Iterable<string> {
    return this.#types;
  }

  /** Whether ids of the type are replaced. */
  hides(type: string | undefined): boolean {
    return type !== undefined && this.#types.has(type);
  }

  /**
   * The id, or `h_` and 22 characters of base64url if ids of the type are hidden: the first 16 bytes of the HMAC-SHA-256
   * of the type, a zero byte and the id in UTF-8.
   */
  shown(type: string, id: string): string {
    if (!this.hides(type)) return id;
    const digest = createHmac('sha256', this.#salt).update(`${type}\u0000${id}`).digest();
    return `h_${digest.subarray(0, KEPT).toString('base64url')}`;
  }
}

/** Replaces nothing. */
export const PLAIN_IDS = new IdHasher('', new Set());
