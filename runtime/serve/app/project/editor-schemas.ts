import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { FeatureComponent } from '../../../ground/api/component.js';
import { writeWhole } from '../../../ground/core/write-whole.js';
import { allOutputs } from '../../../request/compile/check-component.js';
import { everyStep } from '../../../request/compile/component-life.js';
import type { StepOutputs } from '../../../project/editor/known-names.js';
import { editorSchemas, SCHEMA_FOLDER } from '../../../project/editor/write-schemas.js';
import type { CompiledProject } from './compile-project.js';

/**
 * Writes the JSON Schemas of a project's YAML files into a folder. Files that are up to date are not touched.
 * @returns the names of all files; undefined if the files in schemas/ have errors
 * @throws Error of the file system
 */
export async function writeEditorSchemas(
  compiled: CompiledProject,
  folder: string,
): Promise<string[] | undefined> {
  const { config, ...plugins } = compiled.declared;
  if (config === undefined) return undefined;
  const schemas = editorSchemas({ config, ...plugins, outputs: outputsOf(compiled) });
  for (const [name, text] of schemas) {
    const path = join(folder, name);
    const before = await readFile(path, 'utf8').catch(() => undefined);
    if (before !== text) await writeWhole(path, text);
  }
  return [...schemas.keys()];
}

function outputsOf({ pipelines }: CompiledProject): StepOutputs[] {
  return pipelines.flatMap(({ name, plan }) =>
    everyStep(plan).flatMap(({ as, use, kind, component }) => {
      const { outputs } = component as Partial<FeatureComponent>;
      return outputs === undefined
        ? []
        : [{ pipeline: name, step: as, use, outputs: allOutputs(outputs, kind) }];
    }),
  );
}

/** Keeps the schemas of a project current while its files change, if somebody has made the folder. Never rejects. */
export async function refreshEditorSchemas(
  project: string,
  compiled: CompiledProject,
  logger: Logger,
): Promise<void> {
  const folder = join(project, SCHEMA_FOLDER);
  if (!existsSync(folder)) return;
  try {
    await writeEditorSchemas(compiled, folder);
  } catch (error) {
    logger.warn(
      { folder, reason: (error as Error).message },
      'the JSON Schemas for editors were not written',
    );
  }
}
