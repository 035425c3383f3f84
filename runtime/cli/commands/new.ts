import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Command } from 'commander';
import { NAME_PATTERN } from '../../ground/api/types.js';
import type { Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import { loadProject } from '../../project/config/project/load-project.js';
import { RESERVED_ROUTES } from '../../serve/http/routes.js';
import { plainName } from '../../project/foreign/name-fit.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { writeOwnSchemas } from '../init/editor-schemas.js';
import { NEW_KINDS, type NewKind } from '../new/kinds.js';
import { modeline } from '../../project/starter/new-project.js';
import { newPluginCommand } from '../new/plugin/new-plugin.js';
import { readSchemas } from '../project-types.js';
import { addSettingFlags } from '../setting-flags.js';
import { writeWhole } from '../../ground/core/write-whole.js';

export function newCommand(context: CliContext): Command {
  const command = new Command('new').description('write a first file of a kind, or a package with a plugin');
  for (const [word, kind] of Object.entries(NEW_KINDS)) {
    const own = new Command(word)
      .description(kind.summary)
      .argument('<NAME>', 'its name: lowercase letters, digits and _')
      .action((name: string, flags: SettingFlags) =>
        writeNew(context, { schema: word, ...kind }, name, flags),
      );
    command.addCommand(addSettingFlags(own, ['project']));
  }
  return command.addCommand(newPluginCommand(context));
}

async function writeNew(
  context: CliContext,
  { folder, schema, text }: NewKind & { readonly schema: string },
  name: string,
  flags: SettingFlags,
): Promise<void> {
  if (!NAME_PATTERN.test(name)) {
    const plain = plainName(name).replace(/^[^a-z]+/, '');
    throw new UsageError(
      `${name} is no name; a name has lowercase letters, digits and _, and starts with a letter${NAME_PATTERN.test(plain) ? `; for example ${plain}` : ''}`,
    );
  }
  const { project } = await settingsOf(context, flags);
  if (!existsSync(project))
    throw new CommandFailure(`there is no folder ${project}`, 'make a project: millrace init');
  const isEmpty = !existsSync(join(project, 'schemas')) && !existsSync(join(project, 'pipelines'));
  const config = isEmpty
    ? { entities: new Map(), views: new Map(), pipelines: [] }
    : await readSchemas(context, flags);
  const content = text({ name, config, pipelines: await pipelinesOf(project) });
  const path = join(project, folder, `${name}.yaml`);
  if (existsSync(path))
    throw new CommandFailure(
      `${relative('.', path)} exists already; nothing is written`,
      'choose another name',
    );
  const before = new Set((await errorsOf(project, context)).map(({ message }) => message));
  const made = await mkdir(dirname(path), { recursive: true });
  await writeWhole(path, modeline(schema, folder.split('/').length) + content);
  const [fault] = (await errorsOf(project, context)).filter(({ message }) => !before.has(message));
  if (fault !== undefined) {
    for (const one of [path, ...(made === undefined ? [] : [made])])
      await rm(one, { recursive: true, force: true });
    throw new CommandFailure(
      `${name} cannot be its name: ${fault.message}; nothing is written`,
      fault.help ?? 'choose another name',
    );
  }
  context.stdout.write(`wrote ${relative('.', path)}\n`);
  await writeOwnSchemas(project);
}

/** The errors of the project's files. A name that is taken or predefined adds one. */
async function errorsOf(project: string, { env }: CliContext): Promise<readonly Diagnostic[]> {
  const { diagnostics } = await loadProject(project, env, RESERVED_ROUTES);
  return diagnostics.filter(({ severity }) => severity === 'error');
}

async function pipelinesOf(project: string): Promise<readonly string[]> {
  const files = await readdir(join(project, 'pipelines')).catch(() => []);
  return files
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}
