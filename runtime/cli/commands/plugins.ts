import { Command } from 'commander';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { listPlugins, type ListedPlugin } from '../../serve/app/plugins/list-plugins.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { API_VERSION } from '../../ground/api/version.js';
import { printJson, settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { addSettingFlags } from '../setting-flags.js';
import { renderTable } from '../report/table.js';

type Flags = SettingFlags & { readonly json?: boolean };

export function pluginsCommand(context: CliContext): Command {
  const command = new Command('plugins')
    .description('list the plugins that a project can use, and where they come from')
    .option('--json', 'print the list as JSON, with the options of each plugin')
    .action((flags: Flags) => showPlugins(context, flags));
  return addSettingFlags(command, ['project']);
}

async function showPlugins(context: CliContext, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const { plugins, diagnostics } = await listPlugins(settings);
  if (diagnostics.some(({ severity }) => severity === 'error')) throw new ProjectInvalidError(diagnostics);
  if (flags.json === true) {
    printJson(context, { api: API_VERSION, plugins });
    return;
  }
  const table = renderTable(
    { plugin: 20, kind: 'left', from: 24, version: 9, api: 8 },
    plugins.map(({ name, kind, from, version = '', api = '' }) => [name, kind, from, version, api]),
  );
  context.stdout.write(table);
  for (const { name, options } of plugins.filter(isOwn))
    if (options.length > 0) context.stdout.write(`\n${name}\n${optionTable(options)}`);
}

/** The options of the plugins that ship are in their pages of the docs. */
function isOwn({ from }: ListedPlugin): boolean {
  return from !== 'millrace';
}

function optionTable(options: ListedPlugin['options']): string {
  return renderTable(
    { option: 20, takes: 24, meaning: 30 },
    options.map(({ name, takes, description = '' }) => [name, takes, description]),
  );
}
