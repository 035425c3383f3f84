import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { compileProject, ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { TYPES_FILE } from '../../serve/app/project/keep-types.js';
import { renderDiagnostics } from '../../project/config/diagnostics/render.js';
import { writeWhole } from '../../ground/core/write-whole.js';
import { projectTypes } from '../../serve/http/openapi/project-types.js';
import { answerSchema } from '../../request/pipeline/page/answer-schema.js';
import { requestSchema } from '../../request/pipeline/request/request-schema.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { fileProblem } from '../../ground/core/file-problem.js';
import { addSettingFlags } from '../setting-flags.js';

type Flags = SettingFlags & { readonly write?: boolean; readonly out?: string };

export function typesCommand(context: CliContext): Command {
  const types = new Command('types')
    .description('print the types of a project for the TypeScript client')
    .option('--write', `write them to ${TYPES_FILE} in the folder of the project`)
    .option('--out <FILE>', 'with --write: the file to write')
    .action((flags: Flags) => tellTypes(context, flags));
  return addSettingFlags(types, ['project']);
}

async function tellTypes(context: CliContext, { write, out, ...flags }: Flags): Promise<void> {
  if (out !== undefined && write !== true) throw new UsageError('--out needs --write');
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const compiled = await compileProject(settings.project, settings);
  await compiled.close();
  const { config, pipelines, diagnostics } = compiled;
  if (config === undefined || diagnostics.some((d) => d.severity === 'error'))
    throw new ProjectInvalidError(diagnostics);
  if (diagnostics.length > 0)
    context.stderr.write(`${renderDiagnostics(diagnostics, styleOf(context, context.stderr))}\n\n`);
  const text = projectTypes({
    config,
    pipelines: pipelines.map(({ name, plan }) => ({
      name,
      task: plan.definition.task,
      requestSchema: requestSchema(plan.definition, config.entities),
      answerSchema: answerSchema(plan),
    })),
  });
  if (write !== true) {
    context.stdout.write(text);
    return;
  }
  const path = out === undefined ? join(settings.project, TYPES_FILE) : resolve(out);
  const shown = relative(process.cwd(), path);
  try {
    await writeWhole(path, text);
  } catch (error) {
    throw new CommandFailure(`cannot write ${shown}: ${fileProblem(error)}`, undefined, { cause: error });
  }
  context.stderr.write(`wrote ${shown}\n`);
}
