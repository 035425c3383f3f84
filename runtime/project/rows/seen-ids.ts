/** Initial number of slots; a power of two. */
const FIRST_SLOTS = 1 << 12;

/**
 * A set of ids that needs 16 to 32 bytes per id, however long the ids are. It stores a 53-bit hash of each id. Among
 * ten million ids, two share a hash with a probability of 0.6 %, so the set serves only for counting. A built-in Set
 * of strings needs several times the memory, and it fails above 16.7 million (2^24) ids.
 */
export class SeenIds {
  /** Hashes in a table with open addressing and linear probing. A free slot is NaN. */
  #slots = new Float64Array(FIRST_SLOTS).fill(NaN);
  #count = 0;

  /** @returns whether the id is new */
  add(id: string): boolean {
    const hash = hashOf(id);
    const at = slotOf(this.#slots, hash);
    if (!Number.isNaN(this.#slots[at])) return false;
    this.#slots[at] = hash;
    if (++this.#count * 2 > this.#slots.length) this.#grow();
    return true;
  }

  has(id: string): boolean {
    const hash = hashOf(id);
    return !Number.isNaN(this.#slots[slotOf(this.#slots, hash)]);
  }

  #grow(): void {
    const slots = new Float64Array(2 * this.#slots.length).fill(NaN);
    for (const hash of this.#slots) if (!Number.isNaN(hash)) slots[slotOf(slots, hash)] = hash;
    this.#slots = slots;
  }
}

/** Returns the slot of a hash, or the free slot for it. */
function slotOf(slots: Float64Array, hash: number): number {
  const mask = slots.length - 1;
  let at = hash % slots.length;
  while (!Number.isNaN(slots[at]) && slots[at] !== hash) at = (at + 1) & mask;
  return at;
}

/** Returns 53 bits: two multiplicative hashes of 32 bits with the mixing steps of MurmurHash3. */
function hashOf(text: string): number {
  let low = 0x9e3779b9;
  let high = 0x85ebca6b;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    high = Math.imul(high ^ unit, 0x5f356495);
  }
  low = mixed(low ^ (high >>> 16));
  high = mixed(high ^ (low >>> 13));
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0);
}

function mixed(bits: number): number {
  let hash = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
