import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import type { JsonBytes, Span } from '../../ground/core/json-bytes.js';
import { IdList } from '../../ground/core/parse-ids.js';
import type { CarriedAttribute } from '../../project/config/model/fronts.js';
import type { Engine } from './engines.js';

/** The hits of an answer, where they are in its bytes. */
export class FoundHits {
  readonly #json: JsonBytes;
  readonly #list: Span;
  /** The first byte of each hit, and the byte after it, in turn. */
  readonly #ends: readonly number[];

  private constructor(json: JsonBytes, list: Span) {
    this.#json = json;
    this.#list = list;
    this.#ends = json.items(list);
  }

  /**
   * @param start of the answer in the bytes
   * @returns undefined if there is no list of hits
   */
  static of(json: JsonBytes, { hits }: Engine, start = 0): FoundHits | undefined {
    try {
      const list = json.find(hits, start);
      return list === undefined || json.bytes[list.start] !== 0x5b ? undefined : new FoundHits(json, list);
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  get count(): number {
    return this.#ends.length / 2;
  }

  /**
   * The first hits as candidates of a pipeline.
   * @returns undefined if one of them has no id, or a number that is not exact
   */
  candidates(
    { id }: Engine,
    key: string,
    carried: ReadonlyMap<string, Pick<CarriedAttribute, 'path'>>,
    most: number,
  ): { readonly ids: readonly string[]; readonly candidates: JsonValue } | undefined {
    const ids: string[] = [];
    for (let place = 0; place < Math.min(most, this.count); place++) {
      const text = idText(this.#valueOf(place, id));
      if (text === undefined) return undefined;
      ids.push(text);
    }
    if (carried.size === 0) {
      const isSound = ids.every((one) => idProblem(one) === undefined) && new Set(ids).size === ids.length;
      // Nothing is made for each candidate.
      return { ids, candidates: new IdList(key, ids, isSound) as unknown as JsonValue };
    }
    const candidates = ids.map((one, place): JsonObject => {
      const candidate: Record<string, JsonValue> = { [key]: one };
      for (const [name, { path }] of carried) {
        const value = path === undefined ? place + 1 : this.#valueOf(place, path);
        if (value !== undefined && value !== null) candidate[name] = value;
      }
      return candidate;
    });
    return { ids, candidates };
  }

  #valueOf(place: number, path: readonly string[]): JsonValue | undefined {
    const span = this.#json.find(path, this.#ends[2 * place]);
    return span && this.#json.value(span);
  }

  /** What replaces the list of hits: these ones, each with its own bytes. */
  cut(places: Iterable<number>): { readonly list: Span; readonly parts: readonly Buffer[] } {
    const { bytes } = this.#json;
    const parts: Buffer[] = [];
    const [first = 0, end, second] = this.#ends;
    const between = second === undefined ? undefined : bytes.subarray(end, second);
    for (const place of places) {
      if (parts.length > 0) parts.push(between ?? Buffer.from(','));
      parts.push(bytes.subarray(this.#ends[2 * place], this.#ends[2 * place + 1]));
    }
    if (parts.length === 0) return { list: this.#list, parts: [Buffer.from('[]')] };
    const last = this.#ends.at(-1) ?? 0;
    return {
      list: this.#list,
      parts: [bytes.subarray(this.#list.start, first), ...parts, bytes.subarray(last, this.#list.end)],
    };
  }
}

/**
 * The places of the hits in the order that people see: the ranked ones; then those of the window that the pipeline left out,
 * and the hits after the window, both in the engine's order. So each hit is seen once, on whatever pages.
 * @param ids of the hits of the window
 * @param ranked ids, best first
 */
export function seenOrder(ids: readonly string[], ranked: readonly string[], count: number): number[] {
  const places = new Map<string, number>();
  // If two hits have one id, the first is ranked.
  for (let place = ids.length - 1; place >= 0; place--) places.set(ids[place] ?? '', place);
  const order: number[] = [];
  for (const id of ranked) {
    const place = places.get(id);
    if (place === undefined) continue;
    order.push(place);
    places.delete(id);
  }
  const isSeen = new Uint8Array(count);
  for (const place of order) isSeen[place] = 1;
  for (let place = 0; place < count; place++) if (isSeen[place] === 0) order.push(place);
  return order;
}
