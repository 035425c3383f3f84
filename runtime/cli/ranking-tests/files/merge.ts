import { entriesIn, member, textIn, type Placed, type PlacedEntry } from './placed.js';

/**
 * Merges a value of a case over the value above. Mappings are merged key by key, null removes a key, and everything else
 * replaces what is above. Source: JSON Merge Patch, RFC 7386.
 */
export function mergeOver(above: Placed | undefined, over: Placed | undefined): Placed | undefined {
  if (over === undefined) return above;
  if (above?.kind !== 'map' || over.kind !== 'map') return over;
  return mergeEntries(above, over, (before, value) =>
    before !== undefined && isNull(value) ? undefined : mergeOver(before, value),
  );
}

/**
 * Merges `expect:` of a case. A key of the case replaces the whole value of the same key, and null removes it. The score
 * alone may be null: it means that there is none.
 */
export function mergeExpect(above: Placed | undefined, over: Placed | undefined): Placed | undefined {
  if (over === undefined) return above;
  if (above?.kind !== 'map' || over.kind !== 'map') return over;
  return mergeEntries(above, over, (_, value, key) => (isNull(value) && key !== 'score' ? undefined : value));
}

/**
 * Merges `given:`. Lists of entities and of rows are merged by their keys: an item of the case is merged over the item
 * above that has the same key, and added if there is none.
 * @param keysOf the key fields of an entity type or view
 */
export function mergeGiven(
  above: Placed | undefined,
  over: Placed | undefined,
  keysOf: (part: 'entities' | 'features', name: string) => readonly string[],
): Placed | undefined {
  const merged = mergeOver(above, over);
  if (merged?.kind !== 'map' || above === undefined || over === undefined) return merged;
  const entries = new Map(merged.entries);
  for (const part of ['entities', 'features'] as const) {
    const before = member(above, part);
    const after = member(over, part);
    const entry = entries.get(part);
    if (before?.kind !== 'map' || after?.kind !== 'map' || entry?.value.kind !== 'map') continue;
    const lists = new Map(entry.value.entries);
    for (const [name, { keyAt, value }] of after.entries) {
      const first = member(before, name);
      if (first?.kind === 'list' && value.kind === 'list')
        lists.set(name, { keyAt, value: mergeItems(first, value, keysOf(part, name)) });
    }
    entries.set(part, { ...entry, value: { ...entry.value, entries: lists } });
  }
  return { ...merged, entries };
}

export function isNull(value: Placed): boolean {
  return value.kind === 'scalar' && value.value === null;
}

type Merge = (above: Placed | undefined, over: Placed, key: string) => Placed | undefined;

function mergeEntries(
  above: Extract<Placed, { kind: 'map' }>,
  over: Extract<Placed, { kind: 'map' }>,
  merge: Merge,
): Placed {
  const entries = new Map<string, PlacedEntry>(above.entries);
  for (const [key, { keyAt, value }] of over.entries) {
    const before = entries.get(key)?.value;
    const merged = merge(before, value, key);
    if (merged === undefined) entries.delete(key);
    else entries.set(key, { keyAt, value: merged });
  }
  return { kind: 'map', entries, at: over.at };
}

function mergeItems(
  above: Extract<Placed, { kind: 'list' }>,
  over: Extract<Placed, { kind: 'list' }>,
  keys: readonly string[],
): Placed {
  const keyOf = (item: Placed): string | undefined => {
    const parts = keys.map((key) => textIn(member(item, key)));
    return entriesIn(item).length === 0 || parts.includes(undefined) ? undefined : JSON.stringify(parts);
  };
  const items = [...above.items];
  for (const item of over.items) {
    const key = keyOf(item);
    const same = key === undefined ? -1 : items.findIndex((other) => keyOf(other) === key);
    if (same === -1) items.push(item);
    else items[same] = mergeOver(items[same], item) ?? item;
  }
  return { kind: 'list', items, at: over.at };
}
