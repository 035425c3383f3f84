/** The value at a path of keys, and of positions in lists; undefined if there is none. Nothing inherited is found. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}
