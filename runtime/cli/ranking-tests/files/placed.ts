import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { JsonValue } from '../../../ground/api/types.js';
import type { SourceFile, Span } from '../../../project/config/yaml/source.js';
import {
  entriesOf,
  isEmpty,
  itemsOf,
  spanOf,
  textOf,
  textSpanOf,
} from '../../../project/config/yaml/tree.js';

/** A value of a test file that knows its place. Values of several places of a file can be merged. */
export type Placed = PlacedMap | PlacedList | PlacedScalar;

export interface PlacedMap {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, PlacedEntry>;
  readonly at: Span;
}

export interface PlacedEntry {
  readonly keyAt: Span;
  readonly value: Placed;
}

export interface PlacedList {
  readonly kind: 'list';
  readonly items: readonly Placed[];
  readonly at: Span;
}

export interface PlacedScalar {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** As written, without quotes: `007` and `1e3` stay as they are. */
  readonly text: string;
  readonly at: Span;
}

/** Reads a node. Nothing after a colon is null. */
export function placed(file: SourceFile, node: Node | undefined, holder: Span): Placed {
  if (node === undefined) return { kind: 'scalar', value: null, text: '', at: holder };
  if (isMap(node)) {
    const entries = entriesOf(file, node).map(
      ({ key, keyAt, value }) => [key, { keyAt, value: placed(file, value, keyAt) }] as const,
    );
    return { kind: 'map', entries: new Map(entries), at: spanOf(file, node) };
  }
  if (isSeq(node))
    return {
      kind: 'list',
      items: itemsOf(node).map((item) => placed(file, item, spanOf(file, item))),
      at: spanOf(file, node),
    };
  const text = textOf(node) ?? '';
  const at = isEmpty(node) ? holder : textSpanOf(file, node, text);
  return { kind: 'scalar', value: isScalar(node) ? scalarOf(node.value, text) : null, text, at };
}

/** A number with leading zeros is an id, so it stays a text. */
function scalarOf(value: unknown, text: string): PlacedScalar['value'] {
  if (typeof value === 'number') return /^0\d+$/.test(text) ? text : value;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** The value without its places. Objects have no prototype. */
export function plain(value: Placed): JsonValue {
  switch (value.kind) {
    case 'scalar':
      return value.value;
    case 'list':
      return value.items.map(plain);
    case 'map': {
      const object = Object.create(null) as Record<string, JsonValue>;
      for (const [key, entry] of value.entries) object[key] = plain(entry.value);
      return object;
    }
  }
}

export function member(value: Placed | undefined, key: string): Placed | undefined {
  return value?.kind === 'map' ? value.entries.get(key)?.value : undefined;
}

export function entriesIn(value: Placed | undefined): readonly (readonly [string, PlacedEntry])[] {
  return value?.kind === 'map' ? [...value.entries] : [];
}

export function itemsIn(value: Placed | undefined): readonly Placed[] {
  return value?.kind === 'list' ? value.items : [];
}

/** The text of a scalar as written; undefined for anything else and for null. */
export function textIn(value: Placed | undefined): string | undefined {
  return value?.kind === 'scalar' && value.value !== null ? value.text : undefined;
}

/** The number of a scalar; undefined for anything else. */
export function numberIn(value: Placed | undefined): number | undefined {
  return value?.kind === 'scalar' && typeof value.value === 'number' ? value.value : undefined;
}

/**
 * The place of the part that a JSON pointer names, or of its nearest ancestor that the file contains. A missing member
 * has the place of its holder.
 */
export function placeAt(value: Placed, pointer: string): { readonly at: Span; readonly keyAt: Span } {
  let at = value.at;
  let keyAt = value.at;
  let here = value;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const entry = here.kind === 'map' ? here.entries.get(key) : undefined;
    const item: Placed | undefined = here.kind === 'list' ? here.items[Number(key)] : undefined;
    const next: Placed | undefined = entry?.value ?? item;
    if (next === undefined) break;
    here = next;
    at = here.at;
    keyAt = entry?.keyAt ?? here.at;
  }
  return { at, keyAt };
}
