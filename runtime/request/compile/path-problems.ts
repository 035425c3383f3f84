import type { ValueType } from '../../ground/api/types.js';
import type { AttributeDefinition, EntityType } from '../../project/config/model/entities.js';
import { nearest } from '../../ground/core/nearest.js';
import type { NameProblem } from '../../language/expression/environment.js';

/** The problems of paths that do not exist or have no value. */

export function unknownAttribute(
  segments: readonly string[],
  index: number,
  entity: EntityType,
  fields: ReadonlyMap<string, ValueType> | undefined,
  extra: ReadonlyMap<string, AttributeDefinition> | undefined,
): NameProblem {
  const names =
    fields === undefined
      ? [entity.key, ...entity.attributes.keys(), ...(extra?.keys() ?? [])]
      : [...fields.keys()];
  const name = segments[index] ?? '';
  // A body may send a reference as `brand_id`. Its name in expressions is `brand`.
  const reference = name.endsWith('_id') ? names.find((known) => `${known}_id` === name) : undefined;
  const guess = reference ?? nearest(name, names);
  const owner =
    fields === undefined ? `entity type \`${entity.name}\`` : `\`${segments.slice(0, index).join('.')}\``;
  const where =
    fields === undefined
      ? entity.name === 'request'
        ? `declare it under \`request:\` of the pipeline, such as \`${name}: optional(string)\``
        : `declare it in schemas/entities/${entity.name}.yaml`
      : `it has ${names.join(', ')}`;
  return {
    problem: 'unknown_attribute',
    segment: index,
    message: `${owner} has no attribute \`${name}\``,
    help: guess === undefined ? where : `did you mean \`${[...segments.slice(0, index), guess].join('.')}\`?`,
  };
}

export function unknownEntity(entity: string, segment: number): NameProblem {
  return { problem: 'unknown_entity', segment, message: `there is no entity type \`${entity}\`` };
}

export function tooDeep(segment: number, most: number): NameProblem {
  return {
    problem: 'unknown_name',
    segment,
    message: `a path follows at most ${most} references`,
    help: 'each reference costs a store round trip; store the value on an entity nearer to the start of the path',
  };
}

export function noAttributes(text: string, type: ValueType, segment: number): NameProblem {
  return {
    problem: 'unknown_attribute',
    segment,
    message: `\`${text}\` is a ${type.kind} and has no attributes`,
  };
}

export function notAValue(segments: readonly string[], type: ValueType): NameProblem {
  const text = segments.join('.');
  const inner = type.kind === 'list' ? type.of : type;
  const first = inner.kind === 'record' ? [...inner.fields.keys()][0] : undefined;
  return {
    problem: 'expression_type',
    message: `\`${text}\` is a ${type.kind === 'list' ? 'list of records' : type.kind}, which is not a value`,
    ...(first === undefined ? {} : { help: `name one of its fields, such as \`${text}.${first}\`` }),
  };
}
