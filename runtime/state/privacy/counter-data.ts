import { counterKey, featureIds, partsOf } from '../store/keys.js';
import type { Forgotten, PersonalData, StoredKey } from './personal-data.js';
import { removeKeys } from './remove-keys.js';

/**
 * The counters of an entity, alone or with others. Counters of other entities have no ids: what they have of a user is a
 * part of a sum, or 32 bits of a hash among the distinct values.
 */
export const counterData: PersonalData = {
  counts: ['counters'],
  keysOf: ({ type, ids }, { prefix }) => [...ids].map((id) => counterKey(prefix, [type], [id])),
  async forget(keys, who, { store }) {
    const gone = keys.filter(({ parts }) => names(parts.type, parts.id, who));
    return { counters: (await removeKeys(store, gone)).length };
  },
};

/** The ids of events that were counted for an entity. Their keys name it; they expire after minutes. */
export const markData: PersonalData = {
  counts: ['remembered_events'],
  keysOf: () => [],
  async forget(keys, who, { store }) {
    const gone = keys.filter((key) => {
      const counter = counterOf(key);
      return counter !== undefined && names(counter.type, counter.id, who);
    });
    await store.remove(gone.map(({ key }) => key));
    return { remembered_events: gone.length };
  },
};

/** Whether the ids of a key name a forgotten entity. */
function names(joined: string, id: string, { type, ids }: Forgotten): boolean {
  if (joined === '') return false;
  const types = joined.split(',');
  return featureIds(id, '', types.length)?.some((one, i) => types[i] === type && ids.has(one)) === true;
}

/** The parts of the counter key that a key of `markKey` contains. */
function counterOf({ parts: { id } }: StoredKey): ReturnType<typeof partsOf> {
  const end = id.lastIndexOf('}:');
  return id.startsWith('{') && end > 0 ? partsOf(id.slice(1, end)) : undefined;
}
