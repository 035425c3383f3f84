import { isMap, type Node } from 'yaml';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { AttributeDefinition, EntityType } from '../model/entities.js';
import { checkSpellings, readType, TYPE_KINDS, type TypeContext } from './parse-type.js';
import { readTypedEntry, type TypedEntry } from './typed-entry.js';
import { loadDisplay } from './load-display.js';
import type { SourceFile, Span } from '../yaml/source.js';
import { Section } from '../yaml/section.js';
import { entriesOf, entryOf } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';

/** Entity types that exist without a file, and their keys. */
const PREDEFINED: ReadonlyMap<string, string> = new Map([
  ['product', 'product_id'],
  ['user', 'user_id'],
  ['query', 'query'],
  ['request', 'request_id'],
  ['brand', 'brand_id'],
  ['category', 'category_id'],
]);

/** Names of the entity types that always exist. */
export const PREDEFINED_TYPES: readonly string[] = [...PREDEFINED.keys()];

/** Entity types whose key is part of the wire contract. */
const FIXED_KEYS = new Set(['query', 'request']);

/** Returns the entity types that files declare, and the predefined types that no file declares. */
export function loadEntities(files: readonly ParsedFile[], context: TypeContext): Map<string, EntityType> {
  const types = new Map<string, EntityType>();
  for (const parsed of files) types.set(parsed.name.value, loadEntity(parsed, context));
  for (const [name, key] of PREDEFINED)
    if (!types.has(name)) types.set(name, { name, key, attributes: new Map(), at: undefined });
  for (const parsed of files) {
    const display = loadDisplay(parsed, types, context);
    const type = types.get(parsed.name.value);
    if (display !== undefined && type !== undefined) types.set(type.name, { ...type, display });
  }
  return types;
}

function loadEntity({ file, root, name }: ParsedFile, context: TypeContext): EntityType {
  const { diagnostics } = context;
  if (TYPE_KINDS.includes(name.value))
    diagnostics.error(
      'reserved_name',
      name.at,
      `\`${name.value}\` is already a type of values`,
      'choose another name',
    );
  const entity = new Section('entity', file, root, diagnostics);
  const key = keyOf(entity, name.value);
  const attributes = readAttributes(file, entity.value('attributes'), context);
  const types = new Map([...attributes].map(([attribute, { type }]) => [attribute, type]));
  const places = new Map([...attributes].map(([attribute, { at }]) => [attribute, at]));
  const at = places.get(key);
  if (at !== undefined)
    diagnostics.error(
      'reserved_name',
      at,
      `\`${key}\` is the key of \`${name.value}\``,
      'remove the line: every entity already has its key',
    );
  checkSpellings(types, places, key, diagnostics);
  const ids = entity.located('ids');
  const normalizes = entity.word('ids') === 'normalized';
  if (ids !== undefined && normalizes && name.value !== 'query')
    diagnostics.error(
      'wrong_type',
      ids.at,
      `ids of \`${name.value}\` are exact: only texts of queries can be normalised`,
      'remove `ids`',
    );
  const found = { name: name.value, key, attributes, at: name.at };
  return normalizes ? { ...found, normalizesIds: true } : found;
}

function keyOf(entity: Section<'entity'>, name: string): string {
  const usual =
    entity.word('extends') === 'ProductEntity' ? 'product_id' : (PREDEFINED.get(name) ?? `${name}_id`);
  const key = entity.located('key');
  if (FIXED_KEYS.has(name) && key !== undefined && key.value !== usual)
    entity.diagnostics.error(
      'reserved_name',
      key.at,
      `the key of \`${name}\` is always \`${usual}\``,
      'remove the line',
    );
  return key?.value ?? usual;
}

/** Returns the attributes by name. Invalid attributes are reported and left out. */
export function readAttributes(
  file: SourceFile,
  node: Node | undefined,
  context: TypeContext,
): Map<string, AttributeDefinition> {
  const attributes = new Map<string, AttributeDefinition>();
  for (const { key, keyAt, value } of entriesOf(file, node)) {
    if (!NAME_PATTERN.test(key)) continue;
    const found = readAttribute(keyAt, key, value, context);
    if (found !== undefined) attributes.set(key, { name: key, ...found, at: keyAt });
  }
  return attributes;
}

/** An attribute is a type, an inline record, or a mapping with a type that also says that the attribute is private. */
function readAttribute(
  at: Span,
  name: string,
  node: Node | undefined,
  context: TypeContext,
): TypedEntry | undefined {
  if (
    isMap(node) &&
    entryOf(at.file, node, 'private') === undefined &&
    entryOf(at.file, node, 'type') === undefined
  ) {
    const type = readType(at, node, context);
    return type && { type };
  }
  return readTypedEntry({ at, name, node, example: '{ type: string, private: true }' }, context);
}
