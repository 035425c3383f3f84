import type { JsonObject, JsonValue, ValueType } from '../../api/types.js';
import type { ProjectConfig } from '../../config/model/project.js';
import { UsageError } from '../failure.js';
import { lookUp } from '../project-types.js';

/** A path on the command line that leads to strings of an entity. */
export interface TextPath {
  readonly entity: string;
  /** Reads the strings as expressions do: a path through a list, or to a list, gives a list of strings. */
  textsOf(row: JsonObject): string | readonly string[] | undefined;
}

/**
 * Parses a path such as `product.title`, `product.tags` or `product.variants.colour`.
 * @throws UsageError if it does not lead to text; CommandFailure for an unknown name
 */
export function parseTextPath(path: string, entities: ProjectConfig['entities']): TextPath {
  if (!/^\w+(?:\.\w+)+$/.test(path))
    throw new UsageError(
      `${path} is not a path; expected an entity type and an attribute, e.g. product.title`,
    );
  const [entity = '', ...names] = path.split('.');
  let attributes: ReadonlyMap<string, ValueType> = new Map(
    Array.from(lookUp(entities, entity, 'entity type').attributes, ([name, { type }]) => [name, type]),
  );
  let at = entity;
  let isList = false;
  for (const [index, name] of names.entries()) {
    const type = lookUp(attributes, name, `attribute of ${at}`);
    at = `${at}.${name}`;
    const isLast = index === names.length - 1;
    isList ||= type.kind === 'list';
    const element = type.kind === 'list' ? type.of : type;
    // text_match searches the id of a reference.
    if (isLast && (element.kind === 'string' || element.kind === 'ref')) break;
    if (isLast) throw new UsageError(`${path} is not text; its type is ${wordFor(type)}`);
    if (element.kind === 'ref')
      throw new UsageError(`${path} leads to ${element.entity} entities, which the file does not contain`);
    if (element.kind !== 'record')
      throw new UsageError(`${at} has no attributes; its type is ${wordFor(type)}`);
    attributes = element.fields;
  }
  return {
    entity,
    textsOf(row) {
      const texts = valuesAt(row, names).filter((value) => typeof value === 'string');
      if (!isList) return texts[0];
      return isKnown(row, names) ? texts : undefined;
    },
  };
}

function wordFor(type: ValueType): string {
  return type.kind === 'list' ? `list(${type.of.kind})` : type.kind;
}

/** Yields the values at a path, through every list on the way. */
function valuesAt(value: JsonValue | undefined, names: readonly string[]): JsonValue[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap((one) => valuesAt(one, names));
  const [name, ...rest] = names;
  if (name === undefined) return [value];
  return valuesAt(own(value, name), rest);
}

/** True if the first list on the path exists, whether or not it is empty. */
function isKnown(value: JsonValue | undefined, names: readonly string[]): boolean {
  if (Array.isArray(value)) return true;
  const [name, ...rest] = names;
  return name !== undefined && isKnown(own(value, name), rest);
}

function own(value: JsonValue | undefined, name: string): JsonValue | undefined {
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMapping && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
}
