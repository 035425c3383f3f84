import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { newPluginCommand } from './plugin/new-plugin.js';

/** The surfaces that `millrace new` can write, one subcommand each. */
export const NEW_KINDS: readonly ((context: CliContext) => Command)[] = [newPluginCommand];
