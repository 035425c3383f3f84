import type { FacetValues, History } from '../store/codec/history.js';

/**
 * The history with some of its events, and with some of their values. Texts that no value uses any more are dropped.
 * @param keepsValue by facet and text; by default all values are kept
 */
export function keepEvents(
  history: History,
  keepsEvent: (event: number) => boolean,
  keepsValue: (facet: string, text: string) => boolean = () => true,
): History {
  const events = [...history.types.keys()].filter(keepsEvent);
  const texts: string[] = [];
  const numbers = new Map<number, number>();
  const numberOf = (text: number): number => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    const number = texts.push(history.texts[text] ?? '') - 1;
    numbers.set(text, number);
    return number;
  };
  const facets = new Map<string, FacetValues>();
  for (const [name, before] of history.facets) {
    const offsets = new Int32Array(events.length + 1);
    const values: number[] = [];
    for (const [i, e] of events.entries()) {
      for (const text of before.values.subarray(before.offsets[e], before.offsets[e + 1]))
        if (keepsValue(name, history.texts[text] ?? '')) values.push(numberOf(text));
      offsets[i + 1] = values.length;
    }
    if (values.length > 0) facets.set(name, { offsets, values: Int32Array.from(values) });
  }
  return {
    count: events.length,
    types: Uint8Array.from(events, (e) => history.types[e] ?? 0),
    times: Float64Array.from(events, (e) => history.times[e] ?? 0),
    quantities: Uint16Array.from(events, (e) => history.quantities[e] ?? 0),
    identities: Uint32Array.from(events.flatMap((e) => [...history.identities.subarray(2 * e, 2 * e + 2)])),
    facets,
    texts,
  };
}
