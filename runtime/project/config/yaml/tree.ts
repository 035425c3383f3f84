/**
 * Reads the nodes of a parsed YAML file: entries, strings and places. Tags, anchors and aliases were rejected before.
 */
import { isMap, isScalar, isSeq, Scalar, type Node, type Pair } from 'yaml';
import type { Located, SourceFile, Span } from './source.js';

export interface Entry {
  /** The key as written: `01` stays `01`. */
  readonly key: string;
  readonly keyAt: Span;
  /** Undefined if nothing follows the colon. */
  readonly value: Node | undefined;
}

/** Returns the entries of a mapping in the order of the file. Any other node has none. */
export function entriesOf(file: SourceFile, node: Node | undefined): Entry[] {
  if (!isMap<Node, Node | null>(node)) return [];
  return node.items.map((pair) => entryFrom(file, pair));
}

function entryFrom(
  file: SourceFile,
  { key, value }: { readonly key: Node; readonly value: Node | null },
): Entry {
  return { key: textOf(key) ?? '', keyAt: spanOf(file, key), value: valueOf(value) };
}

function valueOf(value: Node | null): Node | undefined {
  return value === null || isEmpty(value) ? undefined : value;
}

/** Returns the keys of a mapping, as written, with their values, where no place is needed. */
export function* membersOf(
  node: Node | undefined,
): Generator<readonly [key: string, value: Node | undefined]> {
  if (!isMap<Node, Node | null>(node)) return;
  for (const { key, value } of node.items) yield [textOf(key) ?? '', valueOf(value)];
}

/** Returns the items of a list in the order of the file. Any other node has none. */
export function itemsOf(node: Node | undefined): Node[] {
  return isSeq<Node>(node) ? node.items : [];
}

export function entryOf(file: SourceFile, node: Node | undefined, key: string): Entry | undefined {
  const pair = pairOf(node, key);
  return pair && entryFrom(file, pair);
}

function pairOf(node: Node | undefined, key: string): Pair<Node, Node | null> | undefined {
  if (!isMap<Node, Node | null>(node)) return undefined;
  return node.items.find((one) => (textOf(one.key) ?? '') === key);
}

/** Whether a mapping has a key, with a value or without. */
export function isMember(node: Node | undefined, key: string): boolean {
  return pairOf(node, key) !== undefined;
}

export function memberOf(node: Node | undefined, key: string): Node | undefined {
  const pair = pairOf(node, key);
  return pair && valueOf(pair.value);
}

/** True if the node is empty, e.g. after `value:`. */
export function isEmpty(node: Node | undefined): boolean {
  return node === undefined || (isScalar(node) && node.value === null && (node.source ?? '') === '');
}

/** Returns the source text of a scalar: `0042`, `1e3` and `true` as written, quoted text without its quotes. */
export function textOf(node: Node | undefined): string | undefined {
  if (!isScalar(node) || isEmpty(node)) return undefined;
  if (typeof node.value !== 'string') return node.source ?? String(node.value);
  return isBlock(node) ? node.value.trimEnd() : node.value;
}

/** Returns the source text of a scalar with its place. */
export function locatedText(file: SourceFile, node: Node | undefined): Located<string> | undefined {
  const value = textOf(node);
  if (node === undefined || value === undefined) return undefined;
  return { value, at: textSpanOf(file, node, value) };
}

/** Returns the place of a scalar's text: inside its quotes, if the file contains the text unchanged. */
export function textSpanOf(file: SourceFile, node: Node, text: string): Span {
  const span = spanOf(file, node);
  const inner = { file, start: span.start + 1, end: span.end - 1 };
  return file.text.slice(inner.start, inner.end) === text ? inner : span;
}

/** Returns the place to underline for a node. For a block mapping or list it is the first key or item. */
export function spanOf(file: SourceFile, node: Node): Span {
  if (!isScalar(node) && !(isMap(node) && node.flow) && !(isSeq(node) && node.flow)) {
    const first = isMap<Node>(node) ? node.items[0]?.key : isSeq<Node>(node) ? node.items[0] : undefined;
    if (first !== undefined) return spanOf(file, first);
  }
  const [start, end] = node.range ?? [0, 0];
  return { file, start, end: start + file.text.slice(start, end).trimEnd().length };
}

function isBlock(node: Scalar): boolean {
  return node.type === Scalar.BLOCK_FOLDED || node.type === Scalar.BLOCK_LITERAL;
}
