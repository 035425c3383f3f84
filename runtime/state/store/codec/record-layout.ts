import { createHash } from 'node:crypto';
import type { ListElementType, ValueType } from '../../../ground/api/types.js';

/**
 * The layout of a packed record: its fields, their types, and their offsets. The id of a layout is a hash of its
 * content. A record names its layout in 8 bytes, so records of older and newer layouts stay readable.
 */

/** Version of the packed form. It is part of every layout id, so a new form means new layouts. */
const FORMAT = 1;

/** How the value of a field is stored: with a fixed width, or as a range of bytes in the variable part. */
export type Storage = 'double' | 'bool' | 'text' | 'texts' | 'numbers' | 'vector' | 'json';

/** Offsets are in bytes from the start of the packed body (see packed-body.ts). */
export interface StoredField {
  readonly name: string;
  readonly type: ValueType;
  /** `<name>_id`, the other spelling of a reference; undefined if there is none. */
  readonly alternative: string | undefined;
  readonly storage: Storage;
  /** Position in the fields of the layout. */
  readonly index: number;
  /** The byte that holds the two state bits, and their position in it. */
  readonly stateAt: number;
  readonly stateShift: number;
  /** Offset of the double, of the bool byte, or of the u32 with the end of the variable part. */
  readonly valueAt: number;
  /**
   * Offset of the u32 with the start of the variable part, which is the end of the previous field; -1 for the first
   * field.
   */
  readonly startAt: number;
  /** Offset of the byte with the spelling of a reference; -1 if there is none. */
  readonly spellingAt: number;
}

/** Bytes before the states: format version and flags. */
export const BODY_HEADER = 2;

export class RecordLayout {
  /** By name, sorted by code units. */
  readonly fields: readonly StoredField[];
  readonly byName: ReadonlyMap<string, StoredField>;
  /** By each name under which an object may carry a field: its own name and its alternative. */
  readonly carried: ReadonlyMap<string, StoredField>;
  /** The references that have an alternative spelling. */
  readonly references: readonly (StoredField & { readonly alternative: string })[];
  /** Canonical JSON: equal layouts have equal texts. */
  readonly text: string;
  /** First 8 bytes of the text's SHA-256. */
  readonly id: Buffer;
  readonly hex: string;
  /** The id as two little-endian i32 for fast comparison; V8 may allocate an object for a u32. */
  readonly low: number;
  readonly high: number;
  /** Bytes before the variable part. */
  readonly fixedSize: number;

  /** @param key the field that holds the entity's id; undefined for feature views */
  constructor(
    fields: Iterable<readonly [string, ValueType]>,
    readonly key: string | undefined,
  ) {
    const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.text = JSON.stringify({
      format: FORMAT,
      key: key ?? null,
      fields: sorted.map(([name, type]) => [name, typeToJson(type)]),
    });
    this.id = createHash('sha256').update(this.text).digest().subarray(0, 8);
    this.hex = this.id.toString('hex');
    this.low = this.id.readInt32LE(0);
    this.high = this.id.readInt32LE(4);
    const { placed, size } = place(sorted, key);
    this.fields = placed;
    this.fixedSize = size;
    this.byName = new Map(placed.map((field) => [field.name, field]));
    this.references = placed.filter((field) => field.alternative !== undefined) as (StoredField & {
      readonly alternative: string;
    })[];
    this.carried = new Map(
      placed.flatMap((field) =>
        [field.name, field.alternative].flatMap((name) =>
          name === undefined || name === key ? [] : [[name, field] as const],
        ),
      ),
    );
  }
}

/** Assigns offsets: doubles first, then the ends of variable parts, then single bytes. */
function place(
  fields: readonly (readonly [string, ValueType])[],
  key: string | undefined,
): { readonly placed: StoredField[]; readonly size: number } {
  const names = new Set(fields.map(([name]) => name));
  const storages = fields.map(([, type]) => storageOf(type));
  const doubles = storages.filter((storage) => storage === 'double').length;
  const bools = storages.filter((storage) => storage === 'bool').length;
  let doubleAt = BODY_HEADER + Math.ceil(fields.length / 4);
  let endAt = doubleAt + 8 * doubles;
  let startAt = -1;
  let byteAt = endAt + 4 * (fields.length - doubles - bools);
  const placed = fields.map(([name, type], index): StoredField => {
    const storage = storages[index] ?? 'json';
    const common = {
      name,
      type,
      alternative: alternativeOf(name, type, key, names),
      storage,
      index,
      stateAt: BODY_HEADER + (index >> 2),
      stateShift: (index & 3) * 2,
    };
    if (storage === 'double') {
      doubleAt += 8;
      return { ...common, valueAt: doubleAt - 8, startAt: -1, spellingAt: -1 };
    }
    if (storage === 'bool') return { ...common, valueAt: byteAt++, startAt: -1, spellingAt: -1 };
    const spellingAt = type.kind === 'ref' ? byteAt++ : -1;
    const field = { ...common, valueAt: endAt, startAt, spellingAt };
    startAt = endAt;
    endAt += 4;
    return field;
  });
  return { placed, size: byteAt };
}

/** A reference `brand` may be carried as `brand_id`, unless another field has that name. */
function alternativeOf(
  name: string,
  type: ValueType,
  key: string | undefined,
  names: ReadonlySet<string>,
): string | undefined {
  const alternative = `${name}_id`;
  if (type.kind !== 'ref' || key === undefined || key === alternative) return undefined;
  return names.has(alternative) ? undefined : alternative;
}

function storageOf(type: ValueType): Storage {
  switch (type.kind) {
    case 'int':
    case 'float':
    case 'timestamp':
      return 'double';
    case 'bool':
      return 'bool';
    case 'string':
    case 'ref':
      return 'text';
    case 'vector':
      return 'vector';
    case 'list':
      return type.of.kind === 'record' ? 'json' : type.of.kind === 'float' ? 'numbers' : 'texts';
    case 'record':
      return 'json';
  }
}

type TypeJson = string | readonly unknown[];

function typeToJson(type: ValueType): TypeJson {
  switch (type.kind) {
    case 'vector':
      return ['vector', type.size];
    case 'ref':
      return ['ref', type.entity];
    case 'list':
      return ['list', typeToJson(type.of)];
    case 'record':
      return [
        'record',
        [...type.fields]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, field]) => [name, typeToJson(field)]),
      ];
    default:
      return type.kind;
  }
}

/**
 * Parses a layout from its canonical text.
 * @throws Error if the text is not a layout, or has a format that this version does not know
 */
export function parseLayout(text: string): RecordLayout {
  const json: unknown = JSON.parse(text);
  if (typeof json !== 'object' || json === null) throw new Error('not a layout');
  const { format, key, fields } = json as { format?: unknown; key?: unknown; fields?: unknown };
  if (format !== FORMAT)
    throw new Error(`the layout has format ${JSON.stringify(format)}, expected ${FORMAT}`);
  return new RecordLayout(fieldsFromJson(fields), typeof key === 'string' ? key : undefined);
}

function fieldsFromJson(json: unknown): [string, ValueType][] {
  if (!Array.isArray(json)) throw new Error('the layout has no list of fields');
  return json.map((field: unknown) => {
    const [name, type] = Array.isArray(field) ? (field as unknown[]) : [];
    if (typeof name !== 'string') throw new Error('a field of the layout has no name');
    return [name, typeFromJson(type)];
  });
}

function typeFromJson(json: unknown): ValueType {
  const [kind, argument] = Array.isArray(json) ? (json as unknown[]) : [json];
  switch (kind) {
    case 'int':
    case 'float':
    case 'bool':
    case 'string':
    case 'timestamp':
      return { kind };
    case 'vector':
      if (typeof argument === 'number' && Number.isSafeInteger(argument) && argument > 0)
        return { kind, size: argument };
      break;
    case 'ref':
      if (typeof argument === 'string') return { kind, entity: argument };
      break;
    case 'list':
      return { kind, of: elementFromJson(argument) };
    case 'record':
      return { kind, fields: new Map(fieldsFromJson(argument)) };
  }
  throw new Error('the layout has a type that this version does not know');
}

function elementFromJson(json: unknown): ListElementType {
  const type = typeFromJson(json);
  switch (type.kind) {
    case 'string':
    case 'float':
      return { kind: type.kind };
    case 'ref':
    case 'record':
      return type;
    default:
      throw new Error(`the layout has a list of ${type.kind}`);
  }
}
