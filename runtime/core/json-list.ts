import type { JsonValue } from '../api/types.js';
import type { Pieces } from './pieces.js';

/** Where the elements of a list are in a body that is JSON; see `ListSpan`. */
export interface ElementGroups {
  readonly length: number;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const NOTHING = Buffer.alloc(0);

/**
 * A list of a large body. It is parsed a group of elements at a time while it is iterated, so that the values of a
 * group are gone before those of the next one are made. It can be gone through once: then it lets go of the body.
 */
export class JsonList implements Iterable<JsonValue> {
  #bytes: Buffer;
  readonly #groups: ElementGroups;

  constructor(bytes: Buffer, groups: ElementGroups) {
    this.#bytes = bytes;
    this.#groups = groups;
  }

  get length(): number {
    return this.#groups.length;
  }

  *[Symbol.iterator](): Generator<JsonValue, void> {
    for (let group = 0; group < this.#groups.starts.length; group++) yield* this.#parse(group);
    this.#bytes = NOTHING;
  }

  /** All elements at once. */
  *whole(): Pieces<JsonValue[]> {
    const all: JsonValue[] = [];
    for (let group = 0; group < this.#groups.starts.length; group++) {
      for (const element of this.#parse(group)) all.push(element);
      yield;
    }
    this.#bytes = NOTHING;
    return all;
  }

  #parse(group: number): JsonValue[] {
    const { starts, ends } = this.#groups;
    return JSON.parse(`[${this.#bytes.toString('utf8', starts[group], ends[group])}]`) as JsonValue[];
  }
}

/** A list of a body, whether the body is large or not. */
export type BodyList = readonly unknown[] | JsonList;

export function isBodyList(value: unknown): value is BodyList {
  return Array.isArray(value) || value instanceof JsonList;
}
