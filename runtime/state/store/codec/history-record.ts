import { Status } from '../../../ground/api/status.js';
import type { InteractionEvents } from '../../../ground/api/interactions.js';
import { readText, viewOf } from './bytes.js';
import { newVersioned, VERSIONED_HEAD } from './versioned-record.js';
import type { FacetValues, History } from './history.js';

/**
 * The record of a history, little-endian, after the head of a versioned record:
 *
 *   u8   format: 1
 *   u8   F, number of facets
 *   u16  0
 *   u32  E, number of events, oldest first
 *   u32  T, number of texts
 *   E × f64  times
 *   E × 2 u32  identities
 *   E × u16  quantities
 *   E × u8   types
 *   F × { u32 name, as a text number; u32 V; E × u8 number of values of each event; V × u32 values, as text numbers }
 *   T × u16  lengths of the texts in bytes
 *   texts, UTF-8
 *
 * A text is stored once, even if many events have it.
 */
const FORMAT = 1;
const COLUMNS_AT = VERSIONED_HEAD + 12;
/** Bytes of an event without its values. */
const EVENT_BYTES = 8 + 8 + 2 + 1;
const FACET_HEAD = 8;

/** @param expires when the record may be dropped, epoch milliseconds */
export function encodeHistory(history: History, expires: number): Buffer {
  const { count, facets } = history;
  const numbers = new Map(history.texts.map((text, i) => [text, i]));
  const texts = [...history.texts];
  const names = [...facets.keys()].map((name) => numbers.get(name) ?? texts.push(name) - 1);
  const lengths = texts.map((text) => Buffer.byteLength(text));
  let size = COLUMNS_AT + count * EVENT_BYTES + 2 * texts.length + lengths.reduce((sum, one) => sum + one, 0);
  for (const { values } of facets.values()) size += FACET_HEAD + count + 4 * values.length;

  const record = newVersioned(size, expires);
  record.set([FORMAT, facets.size], VERSIONED_HEAD);
  record.writeUInt32LE(count, VERSIONED_HEAD + 4);
  let at = record.writeUInt32LE(texts.length, VERSIONED_HEAD + 8);
  for (const time of history.times) at = record.writeDoubleLE(time, at);
  for (const half of history.identities) at = record.writeUInt32LE(half, at);
  for (const quantity of history.quantities) at = record.writeUInt16LE(quantity, at);
  record.set(history.types, at);
  at += count;
  [...facets.values()].forEach(({ offsets, values }, facet) => {
    at = record.writeUInt32LE(names[facet] ?? 0, at);
    at = record.writeUInt32LE(values.length, at);
    for (let e = 0; e < count; e++) record[at++] = (offsets[e + 1] ?? 0) - (offsets[e] ?? 0);
    for (const value of values) at = record.writeUInt32LE(value, at);
  });
  for (const length of lengths) at = record.writeUInt16LE(length, at);
  for (const text of texts) at += record.write(text, at, 'utf8');
  return record;
}

/** The history in a record; undefined if the record is damaged or has another format. */
export function decodeHistory(record: Buffer): History | undefined {
  const found = locate(record);
  if (found === undefined) return undefined;
  const { count } = found;
  const texts = Array.from({ length: found.textCount }, (_, i) => textAt(record, found, i));
  const facets = new Map<string, FacetValues>();
  for (const facet of found.facets) {
    const values = valuesOf(record, count, facet, found.textCount);
    if (values === undefined) return undefined;
    facets.set(texts[facet.name] ?? '', values);
  }
  return { ...columnsOf(record, count), identities: identitiesOf(record, count), facets, texts };
}

/** True if a later version wrote the record in another format. That version may still need the record. */
export function isOfOtherFormat(record: Buffer): boolean {
  return record.length > VERSIONED_HEAD && record[VERSIONED_HEAD] !== FORMAT;
}

const NO_TEXTS: readonly string[] = [];

/** No events. @param status why there are none; `Status.present` if no event has occurred */
export function noEvents(status: number): InteractionEvents {
  return {
    status,
    count: 0,
    types: new Uint8Array(0),
    times: new Float64Array(0),
    quantities: new Uint16Array(0),
    offsets: new Int32Array(1),
    values: new Int32Array(0),
    texts: NO_TEXTS,
  };
}

/** The events of one record with their values of any facet, for components. What several of them read is decoded once. */
export class HistoryEvents {
  readonly #record: Buffer;
  readonly #found: Found | undefined;
  readonly #columns: Pick<InteractionEvents, 'count' | 'types' | 'times' | 'quantities'> | undefined;
  /** By the name of the facet. */
  readonly #events = new Map<string, InteractionEvents>();

  /** @param numbers by code: the number of the kind for components; by default the code */
  constructor(record: Buffer, numbers?: Uint8Array) {
    this.#record = record;
    this.#found = locate(record);
    if (this.#found === undefined) return;
    const columns = columnsOf(record, this.#found.count);
    if (numbers !== undefined)
      for (let e = 0; e < columns.count; e++)
        columns.types[e] = numbers[columns.types[e] as number] as number;
    this.#columns = columns;
  }

  /** True if it was made from the same bytes. */
  isOf(record: Buffer): boolean {
    return this.#record.equals(record);
  }

  /** @param since events up to this time are left out, epoch milliseconds */
  of(facet: string, since = -Infinity): InteractionEvents {
    let events = this.#events.get(facet);
    if (events === undefined) {
      events = this.#decode(facet);
      this.#events.set(facet, events);
    }
    return events.count === 0 || (events.times[0] as number) > since ? events : eventsAfter(events, since);
  }

  #decode(facetName: string): InteractionEvents {
    const record = this.#record;
    const found = this.#found;
    if (found === undefined || this.#columns === undefined) return noEvents(Status.failed);
    const { count, textCount } = found;
    const columns = { status: Status.present, ...this.#columns };
    const facet = found.facets.find(({ name }) => textAt(record, found, name) === facetName);
    if (facet === undefined)
      return { ...columns, offsets: new Int32Array(count + 1), values: new Int32Array(0), texts: NO_TEXTS };
    const decoded = valuesOf(record, count, facet, textCount);
    if (decoded === undefined) return noEvents(Status.failed);
    const { offsets, values } = decoded;
    const texts: string[] = [];
    const numbers = new Int32Array(textCount).fill(-1);
    for (let i = 0; i < values.length; i++) {
      const text = values[i] as number;
      if (numbers[text] === -1) numbers[text] = texts.push(textAt(record, found, text)) - 1;
      values[i] = numbers[text] as number;
    }
    return { ...columns, offsets, values, texts };
  }
}

function eventsAfter(events: InteractionEvents, since: number): InteractionEvents {
  const { times, types, quantities, offsets, values } = events;
  let first = 0;
  while (first < events.count && (times[first] as number) <= since) first++;
  const base = offsets[first] ?? 0;
  return {
    ...events,
    count: events.count - first,
    times: times.subarray(first),
    types: types.subarray(first),
    quantities: quantities.subarray(first),
    offsets: offsets.subarray(first).map((offset) => offset - base),
    values: values.subarray(base),
  };
}

interface FacetPlace {
  /** Number of a text. */
  readonly name: number;
  /** Offset of its counts, and the number of values after them. */
  readonly at: number;
  readonly length: number;
}

interface Found {
  readonly count: number;
  readonly textCount: number;
  readonly facets: readonly FacetPlace[];
  /** Offset of each text, and the offset after the last one. */
  readonly texts: Int32Array;
}

/** The offsets of all parts; undefined if the record does not have exactly the expected length. */
function locate(record: Buffer): Found | undefined {
  if (record.length < COLUMNS_AT || record[VERSIONED_HEAD] !== FORMAT) return undefined;
  const facetCount = record[VERSIONED_HEAD + 1] ?? 0;
  const count = record.readUInt32LE(VERSIONED_HEAD + 4);
  const textCount = record.readUInt32LE(VERSIONED_HEAD + 8);
  const facets: FacetPlace[] = [];
  let at = COLUMNS_AT + count * EVENT_BYTES;
  for (let i = 0; i < facetCount; i++) {
    if (at + FACET_HEAD > record.length) return undefined;
    const name = record.readUInt32LE(at);
    const length = record.readUInt32LE(at + 4);
    if (name >= textCount) return undefined;
    facets.push({ name, at: at + FACET_HEAD, length });
    at += FACET_HEAD + count + 4 * length;
  }
  if (at + 2 * textCount > record.length) return undefined;
  const texts = new Int32Array(textCount + 1);
  texts[0] = at + 2 * textCount;
  for (let i = 0; i < textCount; i++) texts[i + 1] = (texts[i] ?? 0) + record.readUInt16LE(at + 2 * i);
  return texts[textCount] === record.length ? { count, textCount, facets, texts } : undefined;
}

function textAt(record: Buffer, { texts }: Found, number: number): string {
  return readText(record, texts[number] ?? 0, texts[number + 1] ?? 0, false);
}

function columnsOf(record: Buffer, count: number): Pick<History, 'count' | 'types' | 'times' | 'quantities'> {
  const view = viewOf(record);
  let at = record.byteOffset + COLUMNS_AT;
  const times = new Float64Array(count);
  for (let e = 0; e < count; e++, at += 8) times[e] = view.getFloat64(at, true);
  at += 8 * count;
  const quantities = new Uint16Array(count);
  for (let e = 0; e < count; e++, at += 2) quantities[e] = view.getUint16(at, true);
  const types = new Uint8Array(record.buffer.slice(at, at + count));
  return { count, types, times, quantities };
}

function identitiesOf(record: Buffer, count: number): Uint32Array {
  const view = viewOf(record);
  const identities = new Uint32Array(2 * count);
  let at = record.byteOffset + COLUMNS_AT + 8 * count;
  for (let i = 0; i < identities.length; i++, at += 4) identities[i] = view.getUint32(at, true);
  return identities;
}

/** Decodes the values of one facet; undefined if the counts are inconsistent or a value is not a valid text number. */
function valuesOf(
  record: Buffer,
  count: number,
  { at, length }: FacetPlace,
  textCount: number,
): { readonly offsets: Int32Array; readonly values: Int32Array } | undefined {
  const offsets = new Int32Array(count + 1);
  for (let e = 0; e < count; e++) offsets[e + 1] = (offsets[e] as number) + (record[at + e] as number);
  if (offsets[count] !== length) return undefined;
  const view = viewOf(record);
  const values = new Int32Array(length);
  let from = record.byteOffset + at + count;
  for (let i = 0; i < length; i++, from += 4) {
    const value = view.getUint32(from, true);
    if (value >= textCount) return undefined;
    values[i] = value;
  }
  return { offsets, values };
}
