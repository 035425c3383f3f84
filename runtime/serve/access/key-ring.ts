import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from './api-key.js';
import { hashTextOfKey, KEY_LENGTH } from './key-text.js';

/** Compared instead of a stored hash if there is none. */
const DECOY = randomBytes(32);

/**
 * Finds the key of a request. The time that this takes must not say how much of a wrong key is right:
 *
 * - Only hashes are compared and looked up. One changed character changes the whole hash, so the hash of a key with a
 *   right beginning is no nearer to the stored hash than that of any other text. To make use of the time of the lookup,
 *   a client would have to know the stored hashes.
 * - The id within the key is not used, so an existing id costs as much as one that does not exist.
 * - The last comparison takes constant time, with a decoy if no hash was found.
 *
 * There is no cache from the header's text to its key. It would save about 2 µs, and it would compare secrets
 * character by character and keep them in memory.
 */
export class KeyRing {
  readonly #byHash: ReadonlyMap<string, ApiKey>;
  /** The hash of the key that is looked up. One buffer for all: memory outside the heap for each request cost 27 µs. */
  readonly #hash = Buffer.alloc(DECOY.length);

  constructor(readonly keys: readonly ApiKey[]) {
    this.#byHash = new Map(keys.map((key) => [key.hash.toString('latin1'), key]));
  }

  /** Returns the key with this text, also if it is expired or revoked; undefined if no key has it. */
  find(text: string): ApiKey | undefined {
    // The length of keys is public. Longer texts are not worth a hash.
    if (text.length !== KEY_LENGTH) return undefined;
    const index = hashTextOfKey(text);
    const found = this.#byHash.get(index);
    this.#hash.write(index, 'latin1');
    return timingSafeEqual(this.#hash, found?.hash ?? DECOY) ? found : undefined;
  }
}
