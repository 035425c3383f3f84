import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SHIPPED_PLUGINS } from '../../../ground/core/locations.js';

/** Imports a plugin that ships with Millrace. scripts/bundle.mjs replaces this file by one that imports all of them. */
export async function importShipped(name: string): Promise<Readonly<Record<string, unknown>>> {
  return (await import(pathToFileURL(join(SHIPPED_PLUGINS, name, 'index.js')).href)) as Record<
    string,
    unknown
  >;
}
