import type { Schema } from './types.js';

/** The longest line of a comment. */
const LINE = 100;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** How schemas become types. */
export interface TypeNames {
  /** The name of the type of a component. */
  readonly nameOf: (component: string) => string;
  /** Whether an object that allows undeclared members has an index signature. Without one, tsc reports misspelt names. */
  readonly isOpen: boolean;
}

/** Writes the TypeScript type of a JSON Schema of this service. Lengths, ranges, patterns and conditions have no type. */
export function typeText(schema: Schema, names: TypeNames, indent = ''): string {
  const { $ref: ref, const: only, enum: values, anyOf, oneOf, type } = schema;
  if (typeof ref === 'string') return names.nameOf(ref.slice(ref.lastIndexOf('/') + 1));
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return union(values.map((value) => JSON.stringify(value)));
  const choices = (anyOf ?? oneOf) as readonly Schema[] | undefined;
  if (choices !== undefined) return union(choices.map((one) => typeText(one, names, indent)));
  return union([type].flat().map((one) => plainText(one, schema, names, indent)));
}

const union = (types: readonly string[]): string =>
  types.includes('unknown') ? 'unknown' : [...new Set(types)].join(' | ') || 'never';

function plainText(type: unknown, schema: Schema, names: TypeNames, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'number':
      return type;
    case 'integer':
      return 'number';
    case 'array': {
      const items = typeText((schema.items ?? {}) as Schema, names, indent);
      return /^[\w$]+$/.test(items) ? `readonly ${items}[]` : `readonly (${items})[]`;
    }
    case 'object':
      return objectText(schema, names, indent);
    default:
      return 'unknown';
  }
}

function objectText(schema: Schema, names: TypeNames, indent: string): string {
  const { properties, required = [], additionalProperties: more } = schema;
  if (properties === undefined) {
    const value = typeof more === 'object' ? typeText(more as Schema, names, indent) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  const inner = `${indent}  `;
  const members = Object.entries(properties as Record<string, Schema>).map(([name, member]) => {
    const isRequired = (required as readonly string[]).includes(name);
    return (
      comment(member.description, inner) +
      `${inner}readonly ${memberName(name)}${isRequired ? '' : '?'}: ${typeText(member, names, inner)};\n`
    );
  });
  const open = more === true && names.isOpen ? `${inner}readonly [name: string]: unknown;\n` : '';
  return members.length === 0 && open === ''
    ? 'Record<string, never>'
    : `{\n${members.join('')}${open}${indent}}`;
}

/** A name as a member of a type, in quotes where it is not an identifier. */
const memberName = (name: string): string => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

/** A description as a comment, wrapped; empty if there is none. */
export function comment(description: unknown, indent = ''): string {
  if (typeof description !== 'string') return '';
  const lines = [''];
  for (const word of description.replaceAll('*/', '* /').split(/\s+/)) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && indent.length + last.length + word.length >= LINE) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.length === 1
    ? `${indent}/** ${lines.join('')} */\n`
    : `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}
