/** The maximum length of an id, in UTF-16 code units. */
export const MAX_ID_LENGTH = 1024;

/**
 * JSON Schema pattern of a string without a lone surrogate. Some validators compile patterns without the flag `u`, which
 * `\\P{Surrogate}` needs, so the pattern names both halves of a pair.
 */
export const WELL_FORMED = '^(?:[^\\uD800-\\uDFFF]|[\\uD800-\\uDBFF][\\uDC00-\\uDFFF])*$';

/** JSON Schema of an id. */
export const ID_SCHEMA = {
  type: ['string', 'integer'],
  minLength: 1,
  maxLength: MAX_ID_LENGTH,
  pattern: WELL_FORMED,
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

/** Says why a value is not a valid id. Returns undefined if `idText` returns a valid id for it. */
export function idProblem(value: unknown): string | undefined {
  if (typeof value !== 'string')
    return idText(value) === undefined ? 'an id is a text or a whole number up to 2^53 - 1' : undefined;
  if (value === '') return 'an id cannot be empty';
  if (value.length > MAX_ID_LENGTH) {
    return `an id has at most ${MAX_ID_LENGTH} characters, but this one has ${value.length}`;
  }
  // Half a surrogate pair becomes U+FFFD in UTF-8, so two such ids would share a key.
  return isWellFormed(value)
    ? undefined
    : 'an id must be well-formed Unicode, but this one has half a surrogate pair';
}

/** False for a string with a lone surrogate. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** A text for a list of ids: a single id as it is; others after their lengths, so that different lists have different texts. */
export function idsText(ids: readonly string[]): string {
  if (ids.length === 1) return ids[0] ?? '';
  let text = '';
  for (const id of ids) text += `${id.length}:${id}`;
  return text;
}

/**
 * Converts an id to a string: a string stays as it is, a whole number becomes decimal digits. Returns undefined for
 * anything else. JSON numbers beyond 2^53 - 1 are rounded, so two ids would become one. -0 is rejected, because `0`
 * is a different string.
 */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : undefined;
}
