import type { Store } from '../store/store.js';
import type { StoredKey } from './personal-data.js';

/** Removes records. @returns those that existed */
export async function removeKeys(store: Store, keys: readonly StoredKey[]): Promise<Buffer[]> {
  if (keys.length === 0) return [];
  const names = keys.map(({ key }) => key);
  const records = await store.read(names);
  await store.remove(names);
  return records.filter((record) => record !== null);
}
