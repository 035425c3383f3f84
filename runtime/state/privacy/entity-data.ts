import { entityKey } from '../store/keys.js';
import type { PersonalData } from './personal-data.js';
import { removeKeys } from './remove-keys.js';

/** Entities in the index. References to a forgotten entity in the attributes of others stay: they belong to the others. */
export const entityData: PersonalData = {
  counts: ['entities'],
  keysOf: ({ type, ids }, { prefix }) => [...ids].map((id) => entityKey(prefix, type, id)),
  async forget(keys, { type, ids }, { store }) {
    const gone = keys.filter(({ parts }) => parts.type === type && ids.has(parts.id));
    return { entities: (await removeKeys(store, gone)).length };
  },
};
