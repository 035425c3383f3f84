import type { ApiKey } from '../../runtime/serve/access/api-key.js';
import { KeyRing } from '../../runtime/serve/access/key-ring.js';
import { createKey, hashOfKey } from '../../runtime/serve/access/key-text.js';
import type { Scope } from '../../runtime/serve/access/scopes.js';
import type { KeyService } from '../../runtime/serve/http/services.js';

/** Keys for tests: each is created with its text. */
export class TestKeys implements KeyService {
  readonly #keys: ApiKey[] = [];
  #ring = new KeyRing([]);

  /** Adds a key and returns its text. */
  add(name: string, scopes: readonly Scope[], more: Partial<ApiKey> = {}): string {
    const { id, text } = createKey();
    this.#keys.push({ id, name, hash: hashOfKey(text), scopes, created: Date.now(), ...more });
    this.#ring = new KeyRing(this.#keys);
    return text;
  }

  find(text: string): ApiKey | undefined {
    return this.#ring.find(text);
  }

  byId(id: string): ApiKey | undefined {
    return this.#keys.find((key) => key.id === id);
  }

  warnings(): readonly [] {
    return [];
  }
}
