import { entityKey, featureKey } from '../../../runtime/state/store/keys.js';
import { keySlot } from '../../../runtime/state/store/redis/cluster/key-slot.js';

/** The slots that hold most keys of the torture project's items. */
export function fullestSlots(items: number, count: number): number[] {
  const keys = new Map<number, number>();
  for (let item = 0; item < items; item++) {
    for (const key of [
      entityKey('millrace', 'item', `i${item}`),
      featureKey('millrace', 'features', ['item'], [`i${item}`]),
    ]) {
      const slot = keySlot(key);
      keys.set(slot, (keys.get(slot) ?? 0) + 1);
    }
  }
  return [...keys]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([slot]) => slot);
}
