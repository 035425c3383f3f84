import { isMap, isScalar, type Node } from 'yaml';
import type { ValueType } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import { entriesOf, entryOf, spanOf } from '../yaml/tree.js';
import type { SourceFile, Span } from '../yaml/source.js';
import { readType, type TypeContext } from './parse-type.js';
import { foundWords } from './shape-words.js';

/** What a mapping with `type` says about an attribute or a feature. */
export interface TypedEntry {
  readonly type: ValueType;
  readonly isPrivate?: true;
}

/** True for the mapping of an inline record, and not for one with `type`. */
export function isRecordType(file: SourceFile, node: Node | undefined): boolean {
  return isMap(node) && (entryOf(file, node, 'list') ?? entryOf(file, node, 'record')) !== undefined;
}

/** A mapping with a type that has a name. */
export interface TypedForm {
  readonly at: Span;
  readonly name: string;
  readonly node: Node | undefined;
  /** The keys that the mapping may have, besides `type` and `private`. */
  readonly keys?: readonly string[];
  readonly example: string;
}

/** Reads a type, or a mapping such as `{ type: string, private: true }`. */
export function readTypedEntry(form: TypedForm, context: TypeContext): TypedEntry | undefined {
  return readMarkedType(form, context, (place, type) => {
    const read = readType(place, type, context);
    return read && { type: read };
  });
}

/** Reads what `read` reads, or a mapping with it under `type`, and with `private`. */
export function readMarkedType<T extends object>(
  { at, name, node, keys = [], example }: TypedForm,
  context: TypeContext,
  read: (at: Span, node: Node | undefined) => T | undefined,
): (T & { readonly isPrivate?: true }) | undefined {
  const { file } = at;
  const { diagnostics } = context;
  if (!isMap(node)) return read(at, node);
  const allowed = ['type', ...keys, 'private'];
  for (const { key, keyAt } of entriesOf(file, node)) {
    if (allowed.includes(key)) continue;
    const names = `${allowed.slice(0, -1).join(', ')} and ${allowed.at(-1) ?? ''}`;
    const help = didYouMean(key, allowed) ?? `the keys here are ${names}`;
    diagnostics.error('unknown_key', keyAt, `\`${key}\` is not allowed here`, help);
  }
  const isPrivate = readPrivate(file, entryOf(file, node, 'private')?.value, diagnostics);
  const entry = entryOf(file, node, 'type');
  if (entry === undefined) {
    diagnostics.error(
      'missing_key',
      at,
      `\`${name}\`: the key \`type\` is missing`,
      `for example ${example}`,
    );
    return undefined;
  }
  const found = read(entry.keyAt, entry.value);
  return found && { ...found, ...(isPrivate ? { isPrivate } : {}) };
}

/** Anything but `true` or `false` is an error, because a misspelt `private` would publish the values. */
function readPrivate(file: SourceFile, node: Node | undefined, diagnostics: Diagnostics): true | undefined {
  if (node === undefined) return undefined;
  const value: unknown = isScalar(node) ? node.value : undefined;
  if (value === true) return true;
  if (value !== false)
    diagnostics.error(
      'wrong_type',
      spanOf(file, node),
      `\`private\`: expected true or false, found ${foundWords(file, node)}`,
      'write `private: true` to hide the values',
    );
  return undefined;
}
