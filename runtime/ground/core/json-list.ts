import type { JsonValue } from '../api/types.js';
import { OWN_SLICE, type Pieces } from './pieces.js';

/** The offsets of a list's elements in a JSON body; see `ListSpan`. */
export interface ElementGroups {
  readonly length: number;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const NOTHING = Buffer.alloc(0);
/** A group of more bytes is one element, whose values take milliseconds to parse. */
const LARGE_GROUP = 256 * 1024;

/**
 * A list of a large body. Iteration parses one group of elements at a time, so that the values of a group can be freed
 * before the next group is parsed. It can be iterated once; then it releases the body.
 */
export class JsonList implements Iterable<JsonValue> {
  #bytes: Buffer;
  readonly #groups: ElementGroups;
  #isLarge = false;

  constructor(bytes: Buffer, groups: ElementGroups) {
    this.#bytes = bytes;
    this.#groups = groups;
  }

  get length(): number {
    return this.#groups.length;
  }

  /** What work on the last element yields before each of its steps: a step on a large element may take a slice. */
  get pause(): typeof OWN_SLICE | undefined {
    return this.#isLarge ? OWN_SLICE : undefined;
  }

  *[Symbol.iterator](): Generator<JsonValue, void> {
    for (let group = 0; group < this.#groups.starts.length; group++) yield* this.#parse(group);
    this.#bytes = NOTHING;
  }

  /** Parses all elements into one array. */
  *whole(): Pieces<JsonValue[]> {
    const all: JsonValue[] = [];
    for (let group = 0; group < this.#groups.starts.length; group++) {
      if (this.#bytesOf(group) > LARGE_GROUP) yield OWN_SLICE;
      for (const element of this.#parse(group)) all.push(element);
      yield this.pause;
    }
    this.#bytes = NOTHING;
    return all;
  }

  #bytesOf(group: number): number {
    const { starts, ends } = this.#groups;
    return (ends[group] as number) - (starts[group] as number);
  }

  #parse(group: number): JsonValue[] {
    this.#isLarge = this.#bytesOf(group) > LARGE_GROUP;
    const { starts, ends } = this.#groups;
    return JSON.parse(`[${this.#bytes.toString('utf8', starts[group], ends[group])}]`) as JsonValue[];
  }
}

/** A list of a body, whether the body is large or not. */
export type BodyList = readonly unknown[] | JsonList;

export function isBodyList(value: unknown): value is BodyList {
  return Array.isArray(value) || value instanceof JsonList;
}
