import { Command } from 'commander';
import type { CliContext } from '../context.js';
import { NEW_KINDS } from '../new/kinds.js';

export function newCommand(context: CliContext): Command {
  const command = new Command('new').description('write a new part of a project, or a package of plugins');
  for (const kind of NEW_KINDS) command.addCommand(kind(context));
  return command;
}
