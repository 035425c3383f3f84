import type { JsonObject, JsonValue, ValueType } from '../api/types.js';
import { atOnce, type Pieces } from './pieces.js';
import { timestampOf } from './timestamp.js';
import { isJsonList, isJsonObject } from './value-fit.js';

/** What was converted of one body. */
export class Coerced {
  /** Number of converted values, by dotted field of the body without list positions. */
  readonly fields = new Map<string, number>();
  total = 0;

  add(field: string): void {
    this.total++;
    this.fields.set(field, (this.fields.get(field) ?? 0) + 1);
  }
}

/** An entity type, as `LaxBody` reads it. */
export interface LaxType {
  readonly key: string;
  readonly attributes: ReadonlyMap<string, { readonly type: ValueType }>;
}

/** The type of a field of an object; undefined if nothing declares it. */
export type TypeOf = (name: string) => ValueType | undefined;

/** An id on its own. No entity type has the name, so that an object is no id. */
export const ID: ValueType = { kind: 'ref', entity: '' };
export const INT: ValueType = { kind: 'int' };
export const BOOL: ValueType = { kind: 'bool' };
export const TIMESTAMP: ValueType = { kind: 'timestamp' };
const FLOAT: ValueType = { kind: 'float' };

/** The white space of Unicode, which is not quite that of `trim`. */
const SPACE = /\p{White_Space}/u;
const WHOLE = /^[+-]?\d+(?:_\d+)*(?:\.0+)?$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const MISPLACED_UNDERSCORE = /^_|_$|__/;
/** Digits of milliseconds of the years 1 to 9999, without those that may be seconds. */
const MILLISECONDS = /^[+-]?\d{11,15}$/;
/** Up to here, a number of a time may be of seconds. */
const MOST_SECONDS = 2e10;
/** The end of the year 9999, in epoch milliseconds. */
const LAST_TIME = 253_402_300_799_999;
/** A longer text is no number, so that one value takes no turn of the event loop. */
const MOST_CHARACTERS = 10_000;
/** Numbers with a longer decimal form do not become a text: a few bytes of a body could become hundreds. */
const MOST_DECIMALS = 64;

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'y', 'on', 'yes', 'true']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'n', 'no', 'off', 'false']);

/** The kinds of single values, each with what a value of another kind becomes. What no rule converts stays as it is. */
const RULES: Readonly<Record<string, (value: JsonValue) => JsonValue | undefined>> = {
  int: (value) => (typeof value === 'string' ? wholeOf(value) : numberOfFlag(value)),
  float: (value) => (typeof value === 'string' ? numberOf(value) : numberOfFlag(value)),
  bool: flagOf,
  string: textOf,
  ref: (value) => (Number.isSafeInteger(value) ? undefined : textOf(value)),
  timestamp: timeOf,
};

/** Converts a single value. Returns the value itself if no rule applies; the strict check then says what is wrong. */
function laxScalar(value: JsonValue, kind: string): JsonValue {
  return RULES[kind]?.(value) ?? value;
}

function wholeOf(text: string): number | undefined {
  const sent = bareOf(text);
  const value = WHOLE.test(sent) ? Number(sent.replaceAll('_', '')) : NaN;
  return Number.isSafeInteger(value) ? value + 0 : undefined;
}

function numberOf(text: string): number | undefined {
  const bare = bareOf(text);
  const isBare = bare === '' || NUMBER.test(bare) || MISPLACED_UNDERSCORE.test(text);
  const sent = isBare ? bare : text.replaceAll('_', '');
  const value = NUMBER.test(sent) ? Number(sent) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** The text without white space at its ends; empty if it is too long for a number. */
function bareOf(text: string): string {
  if (text.length > MOST_CHARACTERS) return '';
  let [start, end] = [0, text.length];
  while (start < end && SPACE.test(text.charAt(start))) start++;
  while (end > start && SPACE.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function numberOfFlag(value: JsonValue): number | undefined {
  return typeof value === 'boolean' ? Number(value) : undefined;
}

function flagOf(value: JsonValue): boolean | undefined {
  if (value === 0 || value === 1) return value === 1;
  if (typeof value !== 'string' || value.length > 5) return undefined;
  const word = value.toLowerCase();
  return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined;
}

/** The decimal form of a number, without an exponent. */
function textOf(value: JsonValue): string | undefined {
  if (typeof value !== 'number' || Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined;
  const [digits = '', exponent] = String(value).split('e-');
  if (exponent === undefined) return digits;
  const [, sign = '', first = '', rest = ''] = /^(-?)(\d)\.?(\d*)$/.exec(digits) ?? [];
  const text = `${sign}0.${'0'.repeat(Number(exponent) - 1)}${first}${rest}`;
  return text.length > MOST_DECIMALS ? undefined : text;
}

/** A text of digits is a time in milliseconds, unless it may be meant as seconds. */
function timeOf(value: JsonValue): number | undefined {
  if (typeof value !== 'string' || !MILLISECONDS.test(value) || !Number.isNaN(timestampOf(value)))
    return undefined;
  const time = Number(value);
  return Math.abs(time) > MOST_SECONDS && time <= LAST_TIME ? time : undefined;
}

/** Elements of a list, or fields of an object, that are converted before other work on the event loop may run. */
const PIECE = 64;
/** As deep as inline entities may nest; the strict check refuses deeper ones. */
const MOST_NESTED = 8;

/**
 * Converts the values of one body by the rules of `accept: lax` (docs/lax.md), which are those of pydantic's lax mode. What
 * was sent is not changed: an object with a converted value is copied. Everything is checked strictly afterwards.
 */
export class LaxBody {
  readonly #types: ReadonlyMap<string, LaxType>;
  readonly #nested: 'id' | 'entity';
  readonly #before: number;

  /**
   * @param nested what an object becomes where a reference is declared: the id in it, or an inline entity
   * @param coerced counts what is converted
   */
  constructor(
    types: ReadonlyMap<string, LaxType>,
    nested: 'id' | 'entity',
    readonly coerced = new Coerced(),
  ) {
    this.#types = types;
    this.#nested = nested;
    this.#before = coerced.total;
  }

  /** How many values of this body were converted so far; `coerced` may count several bodies. */
  get converted(): number {
    return this.coerced.total - this.#before;
  }

  /** Converts a value. Returns the value itself if nothing changes. @param field its place, for the counts */
  *value(value: JsonValue, type: ValueType, field: string, depth = 0): Pieces<JsonValue> {
    switch (type.kind) {
      case 'list':
        return yield* this.#elements(value, type.of, field, depth);
      case 'vector':
        return yield* this.#elements(value, FLOAT, field, depth);
      case 'record':
        return yield* this.object(value, (name) => type.fields.get(name), field, depth);
      case 'ref':
        if (isJsonObject(value)) return yield* this.#reference(value, type.entity, field, depth);
        return this.#single(value, type, field);
      default:
        return this.#single(value, type, field);
    }
  }

  /** Converts the id and the attributes of an entity. @param extra further declarations @param key the field of the id */
  *entity(
    value: JsonValue,
    type: LaxType,
    field: string,
    { extra, key = type.key, depth = 0 }: EntityForm = {},
  ): Pieces<JsonValue> {
    const typeOf: TypeOf = (name) =>
      name === key ? ID : (extra?.get(name)?.type ?? type.attributes.get(name)?.type);
    return yield* this.object(value, typeOf, field, depth);
  }

  /** Converts the declared fields of an object. */
  *object(value: JsonValue, typeOf: TypeOf, field: string, depth = 0): Pieces<JsonValue> {
    if (!isJsonObject(value)) return value;
    let copy: Record<string, JsonValue> | undefined;
    let left = PIECE;
    for (const name of Object.keys(value)) {
      const type = typeOf(name) ?? spelt(name, typeOf);
      const sent = value[name] ?? null;
      if (type === undefined || sent === null) continue;
      if (left-- === 0) {
        left = PIECE;
        yield;
      }
      const at = field === '' ? name : `${field}.${name}`;
      const found =
        typeof sent === 'object' ? yield* this.value(sent, type, at, depth) : this.#single(sent, type, at);
      // A declared name is never `__proto__`.
      if (found !== sent) (copy ??= { ...value })[name] = found;
    }
    return copy ?? value;
  }

  /** Converts a flag of the body itself. */
  flag(body: unknown, name: string): unknown {
    if (!isJsonObject(body)) return body;
    return atOnce(this.object(body, (one) => (one === name ? BOOL : undefined), ''));
  }

  *#elements(value: JsonValue, of: ValueType, field: string, depth: number): Pieces<JsonValue> {
    if (!isJsonList(value)) return value;
    let copy: JsonValue[] | undefined;
    for (let i = 0; i < value.length; i++) {
      if (i % PIECE === PIECE - 1) yield;
      const sent = value[i] ?? null;
      const found =
        typeof sent === 'object' ? yield* this.value(sent, of, field, depth) : this.#single(sent, of, field);
      if (found !== sent) (copy ??= [...value])[i] = found;
    }
    return copy ?? value;
  }

  *#reference(value: JsonObject, entity: string, field: string, depth: number): Pieces<JsonValue> {
    const type = this.#types.get(entity);
    if (type === undefined || depth >= MOST_NESTED) return value;
    if (this.#nested === 'entity') return yield* this.entity(value, type, field, { depth: depth + 1 });
    const id = Object.hasOwn(value, type.key) ? (value[type.key] ?? null) : null;
    if (id === null || typeof id === 'object') return value;
    this.coerced.add(field);
    return laxScalar(id, ID.kind);
  }

  #single(value: JsonValue, { kind }: ValueType, field: string): JsonValue {
    const found = laxScalar(value, kind);
    if (found !== value) this.coerced.add(field);
    return found;
  }
}

interface EntityForm {
  readonly extra?: LaxType['attributes'];
  readonly key?: string;
  readonly depth?: number;
}

/** `brand_id` is the other spelling of `brand: ref(brand)`. */
function spelt(name: string, typeOf: TypeOf): ValueType | undefined {
  const type = name.endsWith('_id') ? typeOf(name.slice(0, -'_id'.length)) : undefined;
  return type?.kind === 'ref' ? type : undefined;
}
