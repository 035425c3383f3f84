/** Options of type number that name a param. */
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import type { ApplicableSchemas } from './schema-walk.js';

/** Replaces the names of params by their values, where a schema takes a number. */
export class ParamOptions {
  /** The params that options named so far. */
  readonly used = new Set<string>();
  readonly #values: ReadonlyMap<string, number>;

  /** @param isRange whether a value is one of its param's range, instead of the one that the file gives */
  constructor(
    values: ReadonlyMap<string, number>,
    readonly isRange = false,
  ) {
    this.#values = values;
  }

  get names(): Iterable<string> {
    return this.#values.keys();
  }

  /** The value of the param that the text names. Undefined if it names none, or if the schemas take the text itself. */
  value(text: string, schemas: ApplicableSchemas): number | undefined {
    const value = this.#values.get(text);
    if (
      value === undefined ||
      !schemas.all.some(takesNumber) ||
      schemas.all.some((one) => takesText(one, text))
    )
      return undefined;
    this.used.add(text);
    return value;
  }
}

function takesNumber({ type }: JsonObject): boolean {
  return typesOf(type).some((one) => one === 'number' || one === 'integer');
}

function takesText({ type, const: only, enum: choices }: JsonObject, text: string): boolean {
  return (
    only === text ||
    (Array.isArray(choices) && (choices as readonly JsonValue[]).includes(text)) ||
    (typesOf(type).includes('string') && choices === undefined && only === undefined)
  );
}

function typesOf(type: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(type) ? (type as readonly JsonValue[]) : type === undefined ? [] : [type];
}
