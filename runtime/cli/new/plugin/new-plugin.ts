import { Command, Option } from 'commander';
import { existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import { nameHelp } from '../../../project/config/project/marks.js';
import type { CliContext } from '../../context.js';
import { CommandFailure, UsageError } from '../../../project/config/diagnostics/failure.js';
import { fileProblem } from '../../../ground/core/file-problem.js';
import { SHIPPED_PLUGINS } from '../../../ground/core/locations.js';
import { writeWhole } from '../../../ground/core/write-whole.js';
import { PLUGIN_KINDS } from './plugin-kinds.js';
import { pluginPackage, type NewPlugin } from './plugin-package.js';

interface Flags {
  readonly dir?: string;
  readonly kind: NewPlugin['kind'];
  readonly language: NewPlugin['language'];
}

export function newPluginCommand(context: CliContext): Command {
  return new Command('plugin')
    .description('write a package with a plugin, its tests and a README')
    .argument('<name>', 'the name of the plugin, as `use:` gives it')
    .addOption(
      new Option('--kind <kind>', 'what the plugin is')
        .choices(Object.keys(PLUGIN_KINDS))
        .default('feature' satisfies NewPlugin['kind']),
    )
    .addOption(
      new Option('--language <language>', 'what it is written in')
        .choices(['typescript', 'javascript'])
        .default('typescript'),
    )
    .option('--dir <dir>', 'the folder of the package; by default the name, with dashes')
    .action((name: string, flags: Flags) => writePackage(context, name, flags));
}

async function writePackage(
  context: CliContext,
  name: string,
  { dir, kind, language }: Flags,
): Promise<void> {
  if (!NAME_PATTERN.test(name))
    throw new UsageError(`\`${name}\` cannot be the name of a plugin: ${nameHelp(name)}`);
  if (existsSync(join(SHIPPED_PLUGINS, name)))
    throw new CommandFailure(
      `Millrace ships a plugin called \`${name}\`, so a project could not load another one`,
      'choose another name; `millrace plugins` lists those that are taken',
    );
  const shown = dir ?? name.replaceAll('_', '-');
  const folder = resolve(shown);
  const found = await stat(folder).catch(() => undefined);
  if (found !== undefined)
    throw new CommandFailure(`${shown} exists already`, 'choose another folder with --dir');
  const files = pluginPackage({ name, kind, language, folder });
  try {
    await mkdir(folder, { recursive: true });
    for (const [path, text] of Object.entries(files)) await writeWhole(join(folder, path), text);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw new CommandFailure(`${shown} cannot be written: ${fileProblem(error)}`, undefined, {
      cause: error,
    });
  }
  context.stdout.write(
    [
      `wrote ${Object.keys(files).length} files to ${shown}`,
      '',
      `  cd ${shown}`,
      '  npm install',
      '  npm test',
      '',
      'README.md says how a project uses it.',
      '',
    ].join('\n'),
  );
}
