import { join } from 'node:path';
import { compileProject } from '../../serve/app/project/compile-project.js';
import { writeEditorSchemas } from '../../serve/app/project/editor-schemas.js';
import { SCHEMA_FOLDER } from '../../project/editor/write-schemas.js';

/** Writes the JSON Schemas of a project, which the first lines of its files name. */
export async function writeOwnSchemas(project: string): Promise<void> {
  const compiled = await compileProject(project);
  await compiled.close();
  await writeEditorSchemas(compiled, join(project, SCHEMA_FOLDER));
}
