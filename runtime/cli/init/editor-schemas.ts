import { join } from 'node:path';
import { compileProject } from '../../app/project/compile-project.js';
import { writeEditorSchemas } from '../../app/project/editor-schemas.js';
import { SCHEMA_FOLDER } from '../../editor/write-schemas.js';

/** Writes the JSON Schemas of a project, which the first lines of its files name. */
export async function writeOwnSchemas(project: string): Promise<void> {
  const compiled = await compileProject(project);
  await compiled.close();
  await writeEditorSchemas(compiled, join(project, SCHEMA_FOLDER));
}
