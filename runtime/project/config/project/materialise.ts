import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { GRAMMAR, markOf, type Mark } from './marks.js';
import type { ParamOptions } from './param-options.js';
import type { ApplicableSchemas } from './schema-walk.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import {
  entriesOf,
  isEmpty,
  membersOf,
  itemsOf,
  locatedText,
  spanOf,
  textOf,
  textSpanOf,
  type Entry,
} from '../yaml/tree.js';

export type OptionPath = readonly (string | number)[];

/**
 * Converts a YAML node to a plain value. Mappings have no prototype, so that every key is harmless. If the schema
 * marks a string, the scalar's source text is used instead of its YAML value.
 * @param params replaces the names of params by their values; only in the options of a step
 */
export function materialise(
  node: Node | undefined,
  schemas: ApplicableSchemas,
  params?: ParamOptions,
): JsonValue {
  if (isMap(node)) {
    const value = Object.create(null) as Record<string, JsonValue>;
    for (const [key, inner] of membersOf(node))
      value[key] = materialise(inner, schemas.property(key), params);
    return value;
  }
  if (isSeq(node)) return itemsOf(node).map((item, i) => materialise(item, schemas.item(i), params));
  if (!isScalar(node) || isEmpty(node)) return null;
  if (schemas.all.some(isMarked)) return textOf(node) ?? null;
  const { value } = node;
  const param = typeof value === 'string' ? params?.value(value, schemas) : undefined;
  if (param !== undefined) return param;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function isMarked(schema: JsonObject): boolean {
  return schema['millrace'] === GRAMMAR || markOf(schema) !== undefined;
}

/** The places of a value's parts in its file. */
export class Places {
  readonly #entries = new Map<Node, ReadonlyMap<string, Entry>>();

  constructor(
    readonly file: SourceFile,
    readonly root: Node | undefined,
    /** The place to report if there is no node. */
    readonly fallback: Span,
  ) {}

  /** Returns the place of the value at a path, or of its nearest ancestor that the file contains. */
  value(path: OptionPath): Span {
    const { node, key } = this.#find(path);
    if (node !== undefined && !(path.length > 0 && isEmpty(node))) return spanOf(this.file, node);
    return key ?? (this.root === undefined ? this.fallback : spanOf(this.file, this.root));
  }

  /**
   * Returns the place of the key at the end of a path. For a list item and for the root it is the place of the value.
   */
  key(path: OptionPath): Span {
    const { key, exact } = this.#find(path);
    return exact && key !== undefined && typeof path.at(-1) === 'string' ? key : this.value(path);
  }

  /** Returns the place of the container of the value at a path: the container's key, or its start. */
  holder(path: OptionPath): Span {
    return path.length === 0 && this.root === undefined ? this.fallback : this.key(path);
  }

  node(path: OptionPath): Node | undefined {
    const { node, exact } = this.#find(path);
    return exact ? node : undefined;
  }

  /** Returns the place of the string at a path: inside its quotes, if that is exact. */
  text(path: OptionPath, text: string): Span {
    const node = this.node(path);
    return node === undefined ? this.value(path) : textSpanOf(this.file, node, text);
  }

  /** Returns the key at the end of a path as a located string. */
  keyText(path: OptionPath): Located<string> {
    const holder = this.node(path.slice(0, -1));
    const last = path.at(-1);
    const pair = isMap<Node>(holder) ? holder.items.find(({ key }) => textOf(key) === last) : undefined;
    return locatedText(this.file, pair?.key) ?? { value: String(last), at: this.key(path) };
  }

  /** A value can have as many errors as keys, so the keys of each mapping are read once. */
  #entry(node: Node | undefined, key: string): Entry | undefined {
    if (node === undefined) return undefined;
    let entries = this.#entries.get(node);
    if (entries === undefined) {
      // The first of equal keys counts.
      entries = new Map(
        entriesOf(this.file, node)
          .reverse()
          .map((entry) => [entry.key, entry]),
      );
      this.#entries.set(node, entries);
    }
    return entries.get(key);
  }

  #find(path: OptionPath): { node: Node | undefined; key: Span | undefined; exact: boolean } {
    let node = this.root;
    let key: Span | undefined;
    for (const part of path) {
      if (isSeq(node)) {
        const item = itemsOf(node)[Number(part)];
        if (item === undefined) return { node, key, exact: false };
        node = item;
        key = undefined;
        continue;
      }
      const entry = this.#entry(node, String(part));
      if (entry === undefined) return { node, key, exact: false };
      ({ value: node, keyAt: key } = entry);
    }
    return { node, key, exact: true };
  }
}

/** A marked string of a value. Defaults are included. */
export interface MarkedText {
  readonly path: OptionPath;
  /** True if the key at `path` is marked (`propertyNames`), not the value. */
  readonly inKey: boolean;
  readonly mark: Mark;
  /** Use `spanWithin(text, start, end)` of source.ts to locate a part of an expression. */
  readonly text: Located<string>;
}

/** Returns every marked string of a value, in the order of its keys and items. */
export function markedTexts(value: JsonValue, schemas: ApplicableSchemas, places: Places): MarkedText[] {
  const found: MarkedText[] = [];
  const walk = (part: JsonValue, applicable: ApplicableSchemas, path: OptionPath): void => {
    if (typeof part === 'string') {
      const mark = firstMark(applicable);
      if (mark !== undefined)
        found.push({ path, inKey: false, mark, text: { value: part, at: places.text(path, part) } });
    } else if (Array.isArray(part)) {
      (part as readonly JsonValue[]).forEach((item, i) => {
        walk(item, applicable.item(i), [...path, i]);
      });
    } else if (typeof part === 'object' && part !== null) {
      const keyMark = firstMark(applicable.keys);
      for (const [key, inner] of Object.entries(part as JsonObject)) {
        const at = [...path, key];
        if (keyMark !== undefined)
          found.push({ path: at, inKey: true, mark: keyMark, text: places.keyText(at) });
        walk(inner, applicable.property(key), at);
      }
    }
  };
  walk(value, schemas, []);
  return found;
}

function firstMark(schemas: ApplicableSchemas): Mark | undefined {
  for (const schema of schemas.all) {
    const mark = markOf(schema);
    if (mark !== undefined) return mark;
  }
  return undefined;
}
