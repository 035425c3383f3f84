/** The data of the bench, from a seed: items with a maker, and 20 features per item. */

export const FEATURES = Array.from({ length: 20 }, (_, i) => `f${String(i).padStart(2, '0')}`);

export interface Item {
  readonly item_id: string;
  readonly title: string;
  readonly price: number;
  readonly stock: number;
  readonly maker: string;
}

export interface Maker {
  readonly maker_id: string;
  readonly name: string;
  readonly rating: number;
}

export interface Catalogue {
  readonly items: readonly Item[];
  readonly makers: readonly Maker[];
  readonly stats: readonly Readonly<Record<string, number | string>>[];
}

/** mulberry32: a small generator with a period of 2^32 (Tommy Ettinger, public domain). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function catalogue(count: number, seed = 1): Catalogue {
  const next = random(seed);
  const makers = Array.from({ length: Math.max(1, Math.ceil(count / 50)) }, (_, i) => ({
    maker_id: `m${i}`,
    name: `Maker number ${i}`,
    rating: Math.round(next() * 50) / 10,
  }));
  const items = Array.from({ length: count }, (_, i) => ({
    item_id: `i${i}`,
    title: `Item ${i} of some kind, in a colour, with a number ${Math.floor(next() * 1e6)}`,
    price: Math.round(next() * 100_000) / 100,
    stock: Math.floor(next() * 20),
    maker: `m${Math.floor(next() * makers.length)}`,
  }));
  const stats = items.map(({ item_id }) => ({
    item_id,
    ...Object.fromEntries(FEATURES.map((feature) => [feature, next()])),
  }));
  return { items, makers, stats };
}

/** Returns `count` different items, in an order that the seed determines. */
export function candidatesOf(
  items: readonly Pick<Item, 'item_id'>[],
  count: number,
  seed: number,
): { readonly item_id: string }[] {
  const next = random(seed);
  const ids = items.map(({ item_id }) => item_id);
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(next() * (ids.length - i));
    const [a = '', b = ''] = [ids[i], ids[j]];
    ids[i] = b;
    ids[j] = a;
  }
  return ids.slice(0, count).map((item_id) => ({ item_id }));
}
