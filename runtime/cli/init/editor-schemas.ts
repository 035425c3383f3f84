import { existsSync } from 'node:fs';
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { COMPILED } from '../../core/locations.js';
import { SCHEMAS } from './new-project.js';

/**
 * Copies the JSON Schemas of this version into a project, where the first lines of its files name them. A schema that is
 * there stays.
 * @returns their names, such as `pipeline`
 */
export async function copySchemas(project: string): Promise<readonly string[]> {
  const shipped = join(COMPILED, 'schemas');
  const files = (await readdir(shipped)).filter((file) => file.endsWith('.schema.json'));
  for (const file of files) {
    const path = join(project, SCHEMAS, file);
    if (!existsSync(path)) await cp(join(shipped, file), path);
  }
  return files.map((file) => file.replace('.schema.json', ''));
}
