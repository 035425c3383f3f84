import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { NAME_PATTERN } from '../../api/types.js';
import { nearest } from '../../core/nearest.js';
import { plainName } from '../../dataset/import/name-fit.js';
import type { SettingFlags } from '../../settings/settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { copySchemas } from '../init/editor-schemas.js';
import { NEW_KINDS } from '../new/kinds.js';
import { readSchemas } from '../project-types.js';
import { addSettingFlags } from '../setting-flags.js';
import { writeWhole } from '../../core/write-whole.js';

export function newCommand(context: CliContext): Command {
  const kinds = Array.from(NEW_KINDS, ([kind, { summary }]) => `  ${kind.padEnd(10)} ${summary}`);
  const command = new Command('new')
    .description('write a first file of a kind, which is valid at once')
    .argument('<KIND>', [...NEW_KINDS.keys()].join(', '))
    .argument('<NAME>', 'its name: lowercase letters, digits and _')
    .addHelpText('after', `\nKinds:\n${kinds.join('\n')}`)
    .action((kind: string, name: string, flags: SettingFlags) => writeNew(context, kind, name, flags));
  return addSettingFlags(command, ['project']);
}

async function writeNew(context: CliContext, word: string, name: string, flags: SettingFlags): Promise<void> {
  const kind = NEW_KINDS.get(word);
  if (kind === undefined) {
    const near = nearest(word, NEW_KINDS.keys());
    throw new UsageError(
      `new makes ${[...NEW_KINDS.keys()].join(', ')}, but no ${word}${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  }
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
  const config = isEmpty ? { entities: new Map(), views: new Map() } : await readSchemas(context, flags);
  const files = kind.files({ name, config, pipelines: await pipelinesOf(project) });
  for (const path of files.keys())
    if (existsSync(join(project, path)))
      throw new CommandFailure(
        `${relative('.', join(project, path))} exists already; nothing is written`,
        'choose another name',
      );
  await copySchemas(project);
  for (const [path, text] of files) {
    await writeWhole(join(project, path), text);
    context.stdout.write(`wrote ${relative('.', join(project, path))}\n`);
  }
}

async function pipelinesOf(project: string): Promise<readonly string[]> {
  const files = await readdir(join(project, 'pipelines')).catch(() => []);
  return files
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}
