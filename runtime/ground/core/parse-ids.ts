import { isUtf8 } from 'node:buffer';
import { MAX_ID_LENGTH } from './ids.js';

/** The most bytes beside the list. They are parsed in one step. */
const MOST_BESIDE = 64 * 1024;

/** Places of ids that were read before. */
export const ID_PLACES = 1 << 17;

/** The list of a body whose elements are objects with an id alone, such as `[{"product_id":"p1"}]`. */
export class IdList {
  /**
   * @param isDistinct true if no id occurs twice; false if one may
   * @param places a number below ID_PLACES for each id: equal ids have the same one most of the time, and so may other ids.
   *   What is known of an id is found by it faster than by the id.
   */
  constructor(
    readonly key: string,
    readonly ids: readonly string[],
    readonly isDistinct: boolean,
    readonly places?: Int32Array,
  ) {}

  /** The list as it was sent. */
  objects(): Record<string, string>[] {
    return this.ids.map((id) => ({ [this.key]: id }));
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses a body like `parseJson`, except that the list becomes an `IdList`. Its ids are taken from the bytes, which is
 * cheaper than an object for each.
 * @param listName a field of the body
 * @param key the only field of the objects of the list
 * @returns undefined for everything unusual, also for every mistake: parse it with `parseJson`
 */
export function parseIds(bytes: Buffer, listName: string, key: string): object | undefined {
  const found = findIds(bytes, listName, key);
  if (found === undefined || !isUtf8(bytes)) return undefined;
  const { start, end, list } = found;
  try {
    const rest = `${bytes.toString('utf8', 0, start)}0${bytes.toString('utf8', end)}`;
    const body = JSON.parse(rest) as Record<string, unknown>;
    body[listName] = list;
    return body;
  } catch {
    return undefined;
  }
}

/** A list of ids, and its place in the bytes. */
interface FoundIds {
  readonly start: number;
  readonly end: number;
  readonly list: IdList;
}

/**
 * Finds the one list with this name among the members of the body. What surrounds the list is only right if it is valid
 * JSON with a value in place of the list.
 */
function findIds(bytes: Buffer, listName: string, key: string): FoundIds | undefined {
  const name = Buffer.from(`"${listName}"`);
  let found: FoundIds | undefined;
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return undefined;
  do {
    const start = afterSpace(bytes, at + 1);
    const end = afterString(bytes, start);
    // A name with an escape may be that of the list.
    if (end < 0 || hasEscape(bytes, start, end)) return undefined;
    at = afterSpace(bytes, end);
    if (bytes[at] !== COLON) return undefined;
    at = afterSpace(bytes, at + 1);
    if (startsWith(bytes, name, start)) {
      if (found !== undefined) return undefined;
      found = readIds(bytes, at, key);
      if (found === undefined) return undefined;
      at = found.end;
    } else at = afterValue(bytes, at);
    at = afterSpace(bytes, at);
    if (at - (found === undefined ? 0 : found.end - found.start) > MOST_BESIDE) return undefined;
  } while (bytes[at] === COMMA);
  return bytes[at] === CLOSE_OBJECT ? found : undefined;
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;)
    byte = bytes[++at];
  return at;
}

function startsWith(bytes: Buffer, part: Buffer, at: number): boolean {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}

/** @returns -1 if there is no string */
function afterString(bytes: Buffer, start: number): number {
  if (bytes[start] !== QUOTE) return -1;
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] === BACKSLASH) at++;
  }
  return -1;
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/** The place after a value, if it is valid. */
function afterValue(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = afterString(bytes, at);
      if (end < 0) break;
      if (depth === 0) return end;
      at = end - 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
  }
  return bytes.length;
}

/** Reads `[{"key":"id"},…]` with at least one element. */
function readIds(bytes: Buffer, start: number, field: string): FoundIds | undefined {
  if (bytes[start] !== OPEN_LIST) return undefined;
  const key = Buffer.from(`"${field}"`);
  spans.reserve((bytes.length - start) / (key.length + ID_BYTES));
  let count = 0;
  let at = beforeId(bytes, start, key);
  /** What lies between two ids. Most bodies have the same bytes everywhere. */
  let between: Buffer | undefined;
  while (at > 0) {
    const from = at;
    let hash = 0;
    let byte = bytes[at] as number;
    while (byte !== QUOTE) {
      if (byte === BACKSLASH || !(byte >= 0x20 && byte < 0x80)) return undefined;
      hash = Math.imul(hash ^ byte, 0x01000193);
      byte = bytes[++at] as number;
    }
    if (at === from || at - from > MAX_ID_LENGTH) return undefined;
    spans.set(count++, from, at, hash);
    if (between !== undefined && startsWith(bytes, between, at)) {
      at += between.length;
      continue;
    }
    const close = afterSpace(bytes, at + 1);
    const next = afterSpace(bytes, close + 1);
    if (bytes[close] !== CLOSE_OBJECT) return undefined;
    if (bytes[next] === CLOSE_LIST) {
      const places = new Int32Array(count);
      const ids = textsOf(bytes, places);
      return { start, end: next + 1, list: new IdList(field, ids, areDistinct(ids), places) };
    }
    if (bytes[next] !== COMMA) return undefined;
    const after = beforeId(bytes, next, key);
    between = bytes.subarray(at, after);
    at = after;
  }
  return undefined;
}

/** The bytes around the key and the id of an element, at least. */
const ID_BYTES = 6;

/** Where the ids of a list lie in the bytes, and their hashes. Scratch memory, used without an await. */
class Spans {
  from = new Int32Array(0);
  end = new Int32Array(0);
  hash = new Int32Array(0);

  reserve(count: number): void {
    if (count <= this.from.length) return;
    const size = 1 << Math.ceil(Math.log2(count + 1));
    this.from = new Int32Array(size);
    this.end = new Int32Array(size);
    this.hash = new Int32Array(size);
  }

  set(at: number, from: number, end: number, hash: number): void {
    this.from[at] = from;
    this.end[at] = end;
    this.hash[at] = hash;
  }
}

const spans = new Spans();

/**
 * Ids that were read before: a cache of pairs of places, chosen by the hash of an id. A string that is used again has its own
 * hash already, which maps need, and comparing it is cheaper than making one.
 */
const recent = new Array<string>(ID_PLACES).fill('');
/** By place: the hash of its id. It tells most other ids apart without a look at the string. */
const recentHashes = new Int32Array(recent.length);
/** Longer ids are not kept. */
const MOST_KEPT = 64;
/** The place of a pair that the next id takes: one and the other. */
let turn = 0;

/**
 * The ids in `spans`. First come all probable ones, then each is compared: most of the time goes to waiting for memory, and a
 * short loop lets the processor wait for several at once.
 * @param places gets the place of each id
 */
function textsOf(bytes: Buffer, places: Int32Array): string[] {
  const ids: string[] = [];
  for (let i = 0; i < places.length; i++) {
    const hash = spans.hash[i] as number;
    const pair = pairOf(hash);
    const place = recentHashes[pair] === hash ? pair : pair + 1;
    places[i] = place;
    ids.push(recent[place] as string);
  }
  for (let i = 0; i < places.length; i++) {
    const [from, end] = [spans.from[i] as number, spans.end[i] as number];
    if (isAt(ids[i] as string, bytes, from, end)) continue;
    const text = bytes.toString('latin1', from, end);
    ids[i] = text;
    if (text.length <= MOST_KEPT) places[i] = keep(text, spans.hash[i] as number);
  }
  return ids;
}

/** The first place of the pair. */
const pairOf = (hash: number): number => ((hash ^ (hash >>> 15)) << 1) & (recent.length - 1);

function isAt(text: string, bytes: Buffer, from: number, end: number): boolean {
  if (text.length !== end - from) return false;
  let i = 0;
  while (i < text.length && text.charCodeAt(i) === bytes[from + i]) i++;
  return i === text.length;
}

/** @returns the place */
function keep(text: string, hash: number): number {
  turn = 1 - turn;
  const place = pairOf(hash) + turn;
  recent[place] = text;
  recentHashes[place] = hash;
  return place;
}

/** From so many ids in a row on, the next one counts as a duplicate. Only a body that is made for it has so many. */
const MOST_PROBES = 32;

/** Scratch memory, used without an await. */
let slots = new Int32Array(0);

/** Compares each id with the earlier ones, in a hash table with linear probing. The hashes are those in `spans`. */
function areDistinct(ids: readonly string[]): boolean {
  const size = 2 << Math.ceil(Math.log2(ids.length + 1));
  if (slots.length < size) slots = new Int32Array(size);
  else slots.fill(0, 0, size);
  for (let i = 0; i < ids.length; i++) if (!isNew(i, ids, size - 1)) return false;
  return true;
}

function isNew(i: number, ids: readonly string[], mask: number): boolean {
  const hash = spans.hash[i] as number;
  let at = hash ^ (hash >>> 15);
  for (let probes = 0; probes < MOST_PROBES; probes++, at++) {
    const other = slots[at & mask] as number;
    if (other === 0) {
      slots[at & mask] = i + 1;
      return true;
    }
    if (spans.hash[other - 1] === hash && ids[other - 1] === ids[i]) return false;
  }
  return false;
}

/** The place of the first byte of an id, after the opening bracket or the comma before its object; -1 if there is none. */
function beforeId(bytes: Buffer, before: number, key: Buffer): number {
  const open = afterSpace(bytes, before + 1);
  const name = afterSpace(bytes, open + 1);
  const colon = afterSpace(bytes, name + key.length);
  const quote = afterSpace(bytes, colon + 1);
  const isId =
    bytes[open] === OPEN_OBJECT &&
    startsWith(bytes, key, name) &&
    bytes[colon] === COLON &&
    bytes[quote] === QUOTE;
  return isId ? quote + 1 : -1;
}
