import { Random } from './random.js';

/**
 * Shuffles items; the order depends only on the seed.
 * Source: Fisher and Yates, as in Durstenfeld, "Algorithm 235: Random permutation", CACM 1964.
 */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = new Random(seed);
  const order = [...items];
  for (let i = order.length - 1; i > 0; i--) {
    const j = random.between(0, i);
    const held = order[i] as T;
    order[i] = order[j] as T;
    order[j] = held;
  }
  return order;
}
