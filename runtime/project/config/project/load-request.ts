import { isMap, type Node } from 'yaml';
import { NAME_PATTERN, typeText, type ValueType } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { readAttributes } from './load-entities.js';
import type { AttributeDefinition, EntityType } from '../model/entities.js';
import type { PipelineDefinition, RequestDefinition, RequestField } from '../model/pipelines.js';
import { nearest } from '../../../ground/core/nearest.js';
import {
  checkSpellings,
  readType,
  readTypeText,
  ourType,
  TYPE_KINDS,
  type TypeContext,
} from './parse-type.js';
import { REQUEST_FIELDS, REQUEST_MODES } from './reserved-names.js';
import { isRecordType, readMarkedType } from './typed-entry.js';
import { spanWithin, type Located, type Span } from '../yaml/source.js';
import type { Section } from '../yaml/section.js';
import { entriesOf, locatedText, memberOf } from '../yaml/tree.js';

/** What the fields of a request depend on. */
export interface RequestTypes {
  readonly task: PipelineDefinition['task'];
  /** The entity type that is ranked or scored. */
  readonly candidateType: EntityType | undefined;
  readonly entities: ReadonlyMap<string, EntityType>;
  /** Includes types whose files have errors. */
  readonly entityNames: ReadonlySet<string>;
}

/** Reads `request:`. */
export function loadRequest(
  request: Section<'pipeline.request'>,
  { task, candidateType, entities, entityNames }: RequestTypes,
  context: TypeContext,
): RequestDefinition {
  const { file, node, diagnostics } = request;
  const fields = new Map<string, RequestField>();
  /** The key that contains the attributes of the candidates. */
  const carriedAt = task === 'rank' ? 'candidates' : candidateType?.name;
  for (const { key, keyAt, value } of entriesOf(file, node)) {
    if (key === 'candidates' || REQUEST_MODES.includes(key) || !NAME_PATTERN.test(key)) continue;
    if (key === carriedAt && isMap(value)) continue;
    if (REQUEST_FIELDS.has(key)) {
      diagnostics.error(
        'reserved_name',
        keyAt,
        `\`${key}\` is a field of every request`,
        'remove the line, or choose another name',
      );
    } else if (key === candidateType?.name) {
      const [what, remedy] =
        task === 'rank'
          ? ['the candidate', `name the field by its role, for example \`current_${key}\``]
          : ['the scored entity', 'remove the line: every request contains it'];
      diagnostics.error(
        'reserved_name',
        keyAt,
        `\`${key}\` is already the name of ${what} in expressions`,
        remedy,
      );
    } else {
      const field = readField(key, keyAt, value, entityNames, context);
      if (field !== undefined) fields.set(key, field);
    }
  }
  const carried = carriedAt === undefined ? undefined : memberOf(node, carriedAt);
  const candidates = readAttributes(file, carried, context);
  if (candidateType !== undefined) checkCarried(candidates, candidateType, task, diagnostics);
  const own = entities.get('request');
  if (own !== undefined) checkFields(fields, own, diagnostics);
  return {
    candidates,
    fields,
    unknown: request.word('unknown') ?? 'ignore',
    duplicates: request.word('duplicates') ?? 'ignore',
  };
}

/** Reads a type, or a mapping such as `{ type: optional(string), private: true }`. */
function readField(
  name: string,
  at: Span,
  node: Node | undefined,
  entities: ReadonlySet<string>,
  context: TypeContext,
): RequestField | undefined {
  if (!isMap(node) || isRecordType(at.file, node)) return readTypedField(name, at, node, entities, context);
  const example = `${name}: { type: optional(string), private: true }`;
  const field = readMarkedType({ at, name, node, example }, context, (_place, type) =>
    readTypedField(name, at, type, entities, context),
  );
  if (field?.kind !== 'entity' || !('isPrivate' in field)) return field;
  context.diagnostics.error(
    'wrong_type',
    at,
    `\`${name}\` is an entity, and \`private\` is a mark of one value`,
    `mark its attributes in schemas/entities/${field.entity}.yaml`,
  );
  return field;
}

function readTypedField(
  name: string,
  at: Span,
  node: Node | undefined,
  entities: ReadonlySet<string>,
  context: TypeContext,
): RequestField | undefined {
  const written = locatedText(at.file, node);
  if (written === undefined) {
    const type = readType(at, node, context);
    return type && { kind: 'scalar', name, type, optional: false, at };
  }
  const { inner, optional } = unwrapOptional(written);
  if (entities.has(inner.value)) return { kind: 'entity', name, entity: inner.value, optional, at };
  const type = readScalar(inner, entities, context);
  return type && { kind: 'scalar', name, type, optional, at };
}

function unwrapOptional(text: Located<string>): { inner: Located<string>; optional: boolean } {
  const match = /^(optional\s*\(\s*)([\s\S]*?)\s*\)$/.exec(text.value);
  if (match === null) return { inner: text, optional: false };
  const [, before = '', value = ''] = match;
  return {
    inner: { value, at: spanWithin(text, before.length, before.length + value.length) },
    optional: true,
  };
}

/** Reads a type of values. A bare name that is not such a type may be a misspelt entity type. */
function readScalar(
  text: Located<string>,
  entities: ReadonlySet<string>,
  context: TypeContext,
): ValueType | undefined {
  const isBareName = NAME_PATTERN.test(text.value) && !TYPE_KINDS.includes(text.value);
  const guess = isBareName ? nearest(text.value, entities) : undefined;
  if (!isBareName || (guess === undefined && ourType(text.value) !== undefined))
    return readTypeText(text, context);
  context.diagnostics.error(
    'unknown_entity',
    text.at,
    `\`${text.value}\` is neither an entity type nor a type of values`,
    guess === undefined
      ? `declare it in schemas/entities/${text.value}.yaml; existing types: ${[...entities].join(', ')}`
      : `did you mean \`${guess}\`?`,
  );
  return undefined;
}

/** A request's fields and the attributes of the request entity share one namespace. */
function checkFields(
  fields: ReadonlyMap<string, RequestField>,
  request: EntityType,
  diagnostics: Diagnostics,
): void {
  for (const { name, kind, at } of fields.values()) {
    const attribute = request.attributes.get(name);
    if (attribute === undefined) continue;
    diagnostics.error(
      'duplicate_name',
      at,
      `\`request\` already declares \`${name}: ${typeText(attribute.type)}\``,
      kind === 'scalar'
        ? 'remove the line: a request may contain any attribute of its type'
        : 'rename one of them',
    );
  }
  const scalars = [...fields.values()].filter((field) => field.kind === 'scalar');
  checkSpellingsBeside(new Map(scalars.map((field) => [field.name, field])), request, diagnostics);
}

/** The attributes that candidates carry and the attributes of their type share one namespace. */
function checkCarried(
  candidates: ReadonlyMap<string, AttributeDefinition>,
  candidateType: EntityType,
  task: PipelineDefinition['task'],
  diagnostics: Diagnostics,
): void {
  const [every, one] = task === 'rank' ? ['candidate', 'a candidate'] : [candidateType.name, 'it'];
  for (const { name, at } of candidates.values()) {
    const own = candidateType.attributes.get(name);
    if (name === candidateType.key) {
      diagnostics.error(
        'reserved_name',
        at,
        `\`${name}\` is the key of \`${candidateType.name}\``,
        `remove the line: every ${every} already has its key`,
      );
    } else if (own !== undefined) {
      diagnostics.error(
        'duplicate_name',
        at,
        `\`${candidateType.name}\` already declares \`${name}: ${typeText(own.type)}\``,
        `remove the line: ${one} may contain any attribute of its type`,
      );
    }
  }
  checkSpellingsBeside(candidates, candidateType, diagnostics);
}

/** Checks the spellings of references if a pipeline adds attributes to those of a type. */
function checkSpellingsBeside(
  added: ReadonlyMap<string, AttributeDefinition>,
  { attributes, key }: EntityType,
  diagnostics: Diagnostics,
): void {
  const all = new Map([...attributes, ...added]);
  const types = new Map([...all].map(([name, { type }]) => [name, type]));
  // Only the attributes that the pipeline adds are reported here.
  const places = new Map([...added].map(([name, { at }]) => [name, at]));
  for (const { name, type } of attributes.values()) {
    const spelling = added.get(`${name}_id`);
    if (spelling !== undefined && type.kind === 'ref') places.set(name, spelling.at);
  }
  checkSpellings(types, places, key, diagnostics);
}
