/**
 * Freezes a value and everything it contains, including maps, and returns it. `set`, `delete` and `clear` of a frozen
 * map throw.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) {
    for (const method of ['set', 'delete', 'clear'])
      Object.defineProperty(value, method, { value: refuse, enumerable: false });
    for (const [key, inner] of value as Map<unknown, unknown>) {
      deepFreeze(key);
      deepFreeze(inner);
    }
  }
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

function refuse(): never {
  throw new TypeError('this map is frozen');
}
