import type { JsonValue } from '../api/types.js';

/** Why a value cannot be stored, and the place in the value. */
export interface JsonProblem {
  readonly path: readonly (string | number)[];
  readonly code: 'number_too_large' | 'reserved_name' | 'too_deep';
  readonly detail: string;
}

/** The deepest nesting of lists and objects that is accepted. */
const MAX_DEPTH = 64;

/**
 * Finds what prevents a JSON value, declared or not, from being stored and returned unchanged. Examples: a number that
 * JSON.parse turned into Infinity, a name that could change an object's prototype, or nesting that is too deep. Returns
 * undefined if there is nothing.
 */
export function jsonProblem(value: JsonValue, depth = 1): JsonProblem | undefined {
  if (typeof value === 'number') {
    return Number.isFinite(value)
      ? undefined
      : { path: [], code: 'number_too_large', detail: 'the number is too large to keep (beyond 1.8e308)' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) {
    return { path: [], code: 'too_deep', detail: `lists and objects nest more than ${MAX_DEPTH} deep` };
  }
  if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    for (let i = 0; i < list.length; i++) {
      const found = jsonProblem(list[i] ?? null, depth + 1);
      if (found !== undefined) return { ...found, path: [i, ...found.path] };
    }
    return undefined;
  }
  const object = value as { readonly [name: string]: JsonValue };
  for (const name of Object.keys(object)) {
    if (name === '__proto__') {
      return { path: [name], code: 'reserved_name', detail: 'the name `__proto__` cannot be used' };
    }
    const found = jsonProblem(object[name] ?? null, depth + 1);
    if (found !== undefined) return { ...found, path: [name, ...found.path] };
  }
  return undefined;
}
