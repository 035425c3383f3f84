import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { compileProject, ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { writeEditorSchemas } from '../../serve/app/project/editor-schemas.js';
import { renderDiagnostics } from '../../project/config/diagnostics/render.js';
import { SURFACES } from '../../project/editor/surfaces.js';
import { fileOf, modeline, SCHEMA_FOLDER } from '../../project/editor/write-schemas.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';
import { addSettingFlags } from '../setting-flags.js';

type Flags = SettingFlags & { readonly write?: boolean; readonly out?: string; readonly json?: boolean };

export function schemasCommand(context: CliContext): Command {
  const schemas = new Command('schemas')
    .description('write JSON Schemas of the YAML files of a project, for editors')
    .option('--write', 'write the schemas')
    .option('--out <DIR>', `the folder for them; by default ${SCHEMA_FOLDER} in the project`)
    .option('--json', 'print the written files as JSON')
    .action((flags: Flags) => writeSchemas(context, flags));
  return addSettingFlags(schemas, ['project']);
}

async function writeSchemas(context: CliContext, flags: Flags): Promise<void> {
  if (flags.write !== true) throw new UsageError('add --write: the command writes files into the project');
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const project = resolve(settings.project);
  const folder = flags.out === undefined ? join(project, SCHEMA_FOLDER) : resolve(flags.out);
  const compiled = await compileProject(project, settings);
  await compiled.close();
  const { diagnostics } = compiled;
  const written = await writeEditorSchemas(compiled, folder);
  if (written === undefined) throw new ProjectInvalidError(diagnostics);
  // Pipelines with errors add no names, so the errors are shown. The schemas help to correct them.
  if (diagnostics.some(({ severity }) => severity === 'error'))
    context.stderr.write(`${renderDiagnostics(diagnostics, styleOf(context, context.stderr))}\n\n`);
  const files = SURFACES.map((surface) => ({
    file: join(folder, fileOf(surface)),
    of: surface.file ?? `${surface.folder}/*.yaml`,
    modeline: modeline(surface, project, folder),
  }));
  if (flags.json === true) printJson(context, files);
  else {
    const shown = relative(process.cwd(), folder) || '.';
    context.stdout.write(`${files.length} schemas written to ${shown}\n\n`);
    context.stdout.write('The first line of a file tells the editor its schema:\n');
    for (const { of, modeline: line } of files) context.stdout.write(`\n${of}\n  ${line}\n`);
  }
}
