import { recordForgetTime, segmentsOf } from '../store/codec/feature-record.js';
import { featureIds, featureKey } from '../store/keys.js';
import type { PersonalData } from './personal-data.js';
import { removeKeys } from './remove-keys.js';

/**
 * Rows of feature views whose key names the entity, alone or with others, including rows of views that the project no
 * longer has. Tombstones go as well, because their key contains the id. So a row that arrives late is stored again.
 */
export const featureData: PersonalData = {
  counts: ['feature_rows'],
  keysOf({ type, ids }, { prefix, views }) {
    const single = [...views.values()].filter(({ of, source }) => of.join() === type && source === undefined);
    const groups = new Set(single.map(({ group }) => group));
    return [...groups].flatMap((group) => [...ids].map((id) => featureKey(prefix, group, [type], [id])));
  },
  async forget(keys, { type, ids }, { store }) {
    const gone = keys.filter(({ parts }) => {
      if (parts.type === '') return false;
      const types = parts.type.split(',');
      const named = featureIds(parts.id, '', types.length);
      return named?.some((id, i) => types[i] === type && ids.has(id)) === true;
    });
    const records = await removeKeys(store, gone);
    const rows = records.filter((record) => recordForgetTime(record) === Infinity);
    return { feature_rows: rows.reduce((sum, record) => sum + rowsOf(record), 0) };
  },
};

/** The number of rows in a record that are not deleted. */
function rowsOf(record: Buffer): number {
  const rows = segmentsOf(record).filter(
    ({ start, end }) => recordForgetTime(record.subarray(start, end)) === Infinity,
  );
  return rows.length;
}
