import type { ValueType } from '../../ground/api/types.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { decodeHistory, encodeHistory, isOfOtherFormat } from '../store/codec/history-record.js';
import type { History } from '../store/codec/history.js';
import { expiryOf } from '../store/codec/versioned-record.js';
import { historyKey } from '../store/keys.js';
import type { Store } from '../store/store.js';
import { keepEvents } from './keep-events.js';
import type { Forgotten, PersonalData } from './personal-data.js';
import { removeKeys } from './remove-keys.js';

/** Attempts to change a history that others write at the same time. */
const MOST_TRIES = 100;

/**
 * Feedback histories. The history of the entity is removed. From the histories of others its id is removed as a value of
 * their events; an event without another value is removed.
 */
export const historyData: PersonalData = {
  counts: ['histories', 'history_values', 'unreadable_histories'],
  keysOf: ({ type, ids }, { prefix }) => [...ids].map((id) => historyKey(prefix, type, id)),
  async forget(keys, who, { store, types }) {
    const own = keys.filter(({ parts }) => parts.type === who.type && who.ids.has(parts.id));
    const histories = (await removeKeys(store, own)).length;
    const others = keys.filter((key) => !own.includes(key)).map(({ key }) => key);
    const isGone = goneValues(who, types);
    const records = others.length === 0 ? [] : await store.read(others);
    let values = 0;
    let unreadable = 0;
    for (const [i, key] of others.entries()) {
      const record = records[i] ?? null;
      if (record === null) continue;
      if (isOfOtherFormat(record)) unreadable++;
      else values += await forgetValues(store, key, record, isGone);
    }
    return { histories, history_values: values, unreadable_histories: unreadable };
  },
};

/** True if a value of a facet is a forgotten id. */
type IsGone = (facet: string, text: string) => boolean;

function goneValues({ type, ids }: Forgotten, types: ReadonlyMap<string, EntityType>): IsGone {
  const known = new Map<string, boolean>();
  return (facet, text) => {
    if (!ids.has(text)) return false;
    let holds = known.get(facet);
    if (holds === undefined) known.set(facet, (holds = holdsIdsOf(facet, type, types)));
    return holds;
  };
}

/**
 * Whether the values of a facet, such as `product.brand`, are ids of a type. True if the project no longer has the
 * path, because then they may be. Values that events carry themselves, such as `:revenue`, are not ids.
 */
export function holdsIdsOf(facet: string, type: string, types: ReadonlyMap<string, EntityType>): boolean {
  if (facet.startsWith(':')) return false;
  const [root = '', ...path] = facet.split('.');
  let entity: string | undefined = root;
  let fields: ReadonlyMap<string, ValueType> | undefined = fieldsOf(types.get(root));
  let last: ValueType | undefined;
  for (const segment of path) {
    const key: string | undefined = entity === undefined ? undefined : types.get(entity)?.key;
    if (segment === key) continue;
    last = fields?.get(segment);
    if (last === undefined) return true;
    const inner: ValueType = last.kind === 'list' ? last.of : last;
    entity = inner.kind === 'ref' ? inner.entity : undefined;
    fields = inner.kind === 'record' ? inner.fields : fieldsOf(types.get(entity ?? ''));
  }
  return fields === undefined && entity !== undefined ? true : entity === type;
}

function fieldsOf(entity: EntityType | undefined): ReadonlyMap<string, ValueType> | undefined {
  return entity && new Map(Array.from(entity.attributes.values(), ({ name, type }) => [name, type]));
}

/** Returns the number of removed values. A damaged history is removed, because nothing can read it. */
async function forgetValues(store: Store, key: string, first: Buffer, isGone: IsGone): Promise<number> {
  let record: Buffer | null = first;
  for (let tries = 0; record !== null && tries < MOST_TRIES; tries++) {
    const history = decodeHistory(record);
    if (history === undefined) {
      await store.remove([key]);
      return 0;
    }
    const { left, removed } = withoutValues(history, isGone);
    if (removed === 0) return 0;
    const after = encodeHistory(left, expiryOf(record));
    const [outcome] = await store.swap([{ key, before: record, after }]);
    if (outcome === 'stored') return removed;
    [record = null] = await store.read([key]);
  }
  return 0;
}

/** The history without some values, and without the events that have no value left. */
function withoutValues(
  history: History,
  isGone: IsGone,
): { readonly left: History; readonly removed: number } {
  const { count, facets } = history;
  let removed = 0;
  const had = new Uint8Array(count);
  const has = new Uint8Array(count);
  for (const [name, { offsets, values }] of facets)
    for (let e = 0; e < count; e++)
      for (const text of values.subarray(offsets[e], offsets[e + 1])) {
        had[e] = 1;
        if (isGone(name, history.texts[text] ?? '')) removed++;
        else has[e] = 1;
      }
  if (removed === 0) return { left: history, removed };
  const left = keepEvents(
    history,
    (e) => had[e] === 0 || has[e] === 1,
    (facet, text) => !isGone(facet, text),
  );
  return { left, removed };
}
