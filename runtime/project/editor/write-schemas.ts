import { join, relative, sep } from 'node:path';
import type { JsonObject } from '../../ground/api/types.js';
import { SURFACES, type Registry, type Surface } from './surfaces.js';

/** Where the schemas of a project are by default, in its folder. */
export const SCHEMA_FOLDER = '.millrace/schemas';

/** The schemas of all surfaces, by file name. */
export function editorSchemas(registry: Registry): ReadonlyMap<string, string> {
  return new Map(
    SURFACES.map((surface) => [
      fileOf(surface),
      `${JSON.stringify(identified(surface.schema(registry)), null, 2)}\n`,
    ]),
  );
}

export function fileOf({ name }: Surface): string {
  return `${name}.schema.json`;
}

/** Editors use this draft for `if` and `$defs`; it is also that of the shipped schemas. */
function identified(schema: JsonObject): JsonObject {
  return { ...schema, $schema: 'https://json-schema.org/draft/2020-12/schema' };
}

/**
 * The first line of a YAML file by which yaml-language-server finds its schema.
 * @param project the folder of the project
 * @param folder the folder of the schemas
 */
export function modeline(surface: Surface, project: string, folder: string): string {
  const path = relative(join(project, surface.folder), join(folder, fileOf(surface)));
  return `# yaml-language-server: $schema=${path.split(sep).join('/')}`;
}
