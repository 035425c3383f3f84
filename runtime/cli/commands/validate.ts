import { Command } from 'commander';
import { compileProject } from '../../app/app.js';
import { checkEntityTypes } from '../../app/container/resident.js';
import { checkSettings } from '../../config/project/read-settings.js';
import type { ProjectConfig } from '../../config/project/model.js';
import type { Diagnostic } from '../../config/diagnostics/diagnostics.js';
import { diagnosticsJson, renderDiagnostics } from '../../config/diagnostics/render.js';
import { checkLogSalt } from '../../pipeline/log/log-hasher.js';
import type { SettingFlags } from '../../settings/settings.js';
import { printJson, styleOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure } from '../failure.js';
import { addSettingFlags } from '../setting-flags.js';

type Flags = SettingFlags & { readonly json?: boolean };

export function validateCommand(context: CliContext): Command {
  const validate = new Command('validate')
    .description('check a project as start-up does, and report all errors')
    .option('--json', 'print the errors and warnings as JSON')
    .action((flags: Flags) => checkProject(context, flags));
  return addSettingFlags(validate, ['project']);
}

async function checkProject(context: CliContext, flags: Flags): Promise<void> {
  const { settings, diagnostics: ofSettings } = await checkSettings(context.env, flags);
  tellStrayErrors(context, settings);
  const { project } = settings;
  const compiled = await compileProject(project, settings);
  await compiled.close();
  const { config, pipelines } = compiled;
  const diagnostics = [
    ...ofSettings,
    ...compiled.diagnostics.filter((one) => !ofSettings.some((told) => isSame(one, told))),
  ];
  if (config !== undefined) {
    checkEntityTypes(settings, config);
    checkLogSalt(config.pipelines, settings);
  }
  const errors = diagnostics.filter((d) => d.severity === 'error').length;
  if (flags.json === true) {
    printJson(context, {
      ok: errors === 0,
      errors,
      warnings: diagnostics.length - errors,
      diagnostics: diagnosticsJson(diagnostics),
    });
  } else {
    if (diagnostics.length > 0)
      context.stdout.write(`${renderDiagnostics(diagnostics, styleOf(context, context.stdout))}\n\n`);
    if (errors === 0 && config !== undefined)
      context.stdout.write(
        `ok: ${counted(pipelines.length, 'pipeline')}, ${entityTypes(config)}, ` +
          `${counted(config.views.size, 'feature view')}${sinksText(config)} in ${project}\n`,
      );
  }
  if (errors > 0) throw new CommandFailure('');
}

/** millrace.yaml is read for its settings, and for its part of the project. */
function isSame(one: Diagnostic, other: Diagnostic): boolean {
  return (
    one.message === other.message &&
    one.at.file.path === other.at.file.path &&
    one.at.start === other.at.start
  );
}

/** Counts the types that have a file, and separately the built-in types without a file. */
function entityTypes({ entities }: ProjectConfig): string {
  const declared = [...entities.values()].filter(({ at }) => at !== undefined).length;
  const rest = entities.size - declared;
  return counted(declared, 'entity type') + (rest === 0 ? '' : ` (and ${rest} built in)`);
}

function sinksText({ sinks }: ProjectConfig): string {
  return sinks.length === 0 ? '' : `, ${counted(sinks.length, 'sink')}`;
}

function counted(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}
