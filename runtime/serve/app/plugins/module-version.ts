/** The query of a module's URL that makes Node import changed code again. */
export const VERSION_QUERY = 'millrace';

/**
 * Gives the version of a module to the modules that it names by relative paths, so that all of them are imported again.
 * @param parent the URL of the module that imports
 * @param resolved the URL that Node found
 */
export function inheritVersion(specifier: string, parent: string | undefined, resolved: string): string {
  if (parent === undefined || !parent.includes('?') || !/^\.\.?\//.test(specifier)) return resolved;
  const version = new URL(parent).searchParams.get(VERSION_QUERY);
  if (version === null || !resolved.startsWith('file:')) return resolved;
  const url = new URL(resolved);
  url.searchParams.set(VERSION_QUERY, version);
  return url.href;
}
