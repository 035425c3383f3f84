import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { storedId } from '../../ground/core/entity-id.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';
import { lookUp } from '../project-types.js';

/** Returns an entity that a reference names, or what is kept of it; undefined if it is unknown. */
export type FindEntity = (type: string, id: string) => JsonObject | undefined;

/** A path on the command line that leads to strings of an entity. */
export interface TextPath {
  readonly entity: string;
  /** By entity type that the path passes, other than the first: the attributes that it reads there. */
  readonly references: ReadonlyMap<string, ReadonlySet<string>>;
  /** Reads the strings as expressions do: a path through a list, or to a list, gives a list of strings. */
  textsOf(row: JsonObject, find: FindEntity): string | readonly string[] | undefined;
}

/** One attribute of a path. */
interface Segment {
  readonly name: string;
  /** The entity type that the attribute refers to, if the path goes on there. */
  readonly to?: string;
}

/**
 * Parses a path such as `product.title`, `product.tags`, `product.variants.colour` or `product.brand.name`.
 * @throws UsageError if it does not lead to text; CommandFailure for an unknown name
 */
export function parseTextPath(path: string, entities: ProjectConfig['entities']): TextPath {
  if (!/^\w+(?:\.\w+)+$/.test(path))
    throw new UsageError(
      `${path} is not a path; expected an entity type and an attribute, e.g. product.title`,
    );
  const [entity = '', ...names] = path.split('.');
  const attributesOf = (type: string): ReadonlyMap<string, ValueType> =>
    new Map(
      Array.from(lookUp(entities, type, 'entity type').attributes, ([name, { type: of }]) => [name, of]),
    );
  const references = new Map<string, Set<string>>();
  const segments: Segment[] = [];
  let attributes = attributesOf(entity);
  let at = entity;
  let isList = false;
  for (const [index, name] of names.entries()) {
    const type = lookUp(attributes, name, `attribute of ${at}`);
    at = `${at}.${name}`;
    isList ||= type.kind === 'list';
    const element = type.kind === 'list' ? type.of : type;
    const next = names[index + 1];
    if (next === undefined) {
      // text_match searches the id of a reference.
      if (element.kind !== 'string' && element.kind !== 'ref')
        throw new UsageError(`${path} is not text; its type is ${wordFor(type)}`);
      segments.push({ name });
    } else if (element.kind === 'ref') {
      const { entity: to } = element;
      references.set(to, (references.get(to) ?? new Set()).add(next));
      segments.push({ name, to });
      attributes = attributesOf(to);
    } else if (element.kind === 'record') {
      segments.push({ name });
      attributes = element.fields;
    } else throw new UsageError(`${at} has no attributes; its type is ${wordFor(type)}`);
  }
  return {
    entity,
    references,
    textsOf(row, find) {
      const follow: FindEntity = (to, id) => find(to, storedId(entities.get(to), id));
      const texts = valuesAt(row, segments, follow).filter((value) => typeof value === 'string');
      if (!isList) return texts[0];
      return isKnown(row, segments, follow) ? texts : undefined;
    },
  };
}

function wordFor(type: ValueType): string {
  return type.kind === 'list' ? `list(${type.of.kind})` : type.kind;
}

/** Yields the values at a path, through every list on the way. */
function valuesAt(
  value: JsonValue | undefined,
  segments: readonly Segment[],
  find: FindEntity,
): readonly JsonValue[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).flatMap((one) => valuesAt(one, segments, find));
  const [segment, ...rest] = segments;
  if (segment === undefined) return [value];
  return valuesAt(member(value, segment, find), rest, find);
}

/** True if the first list on the path exists, whether or not it is empty. */
function isKnown(value: JsonValue | undefined, segments: readonly Segment[], find: FindEntity): boolean {
  if (Array.isArray(value)) return true;
  const [segment, ...rest] = segments;
  return segment !== undefined && isKnown(member(value, segment, find), rest, find);
}

/** The value of an attribute; of a reference that the path follows, the entities. */
function member(
  value: JsonValue | undefined,
  { name, to }: Segment,
  find: FindEntity,
): JsonValue | undefined {
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
  const found = isMapping && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
  if (to === undefined) return found;
  const followed = (id: JsonValue): JsonValue => (typeof id === 'string' ? (find(to, id) ?? null) : id);
  if (Array.isArray(found)) return (found as readonly JsonValue[]).map(followed);
  return found === undefined ? undefined : followed(found);
}
