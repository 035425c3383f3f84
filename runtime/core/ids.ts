/** Most UTF-16 code units of an id. */
export const MAX_ID_LENGTH = 1024;

/** JSON Schema pattern of a text without a lone surrogate. */
export const WELL_FORMED = '^\\P{Surrogate}*$';

/** JSON Schema of an id. */
export const ID_SCHEMA = {
  type: ['string', 'integer'],
  minLength: 1,
  maxLength: MAX_ID_LENGTH,
  pattern: WELL_FORMED,
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

/** What is wrong with a value as an id; undefined where `idText` of it is a good id. */
export function idProblem(value: unknown): string | undefined {
  if (typeof value !== 'string')
    return idText(value) === undefined ? 'an id is a text or a whole number up to 2^53 - 1' : undefined;
  if (value === '') return 'an id is not empty';
  if (value.length > MAX_ID_LENGTH) {
    return `an id has at most ${MAX_ID_LENGTH} characters, this has ${value.length}`;
  }
  // Half a surrogate pair becomes U+FFFD in UTF-8, and two such ids would share a key.
  return isWellFormed(value) ? undefined : 'an id is well-formed Unicode, this has half a surrogate pair';
}

/** False for a text with a lone surrogate. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/**
 * The text that an id is: a text itself, a whole number in decimal digits; undefined for anything else. Beyond 2^53 - 1
 * JSON numbers round, so that two ids would become one; -0 is refused since `0` is another text.
 */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : undefined;
}
