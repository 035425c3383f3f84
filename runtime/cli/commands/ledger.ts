import { Command } from 'commander';
import type { CliContext } from '../context.js';
import { ledgerCatCommand } from './ledger-cat.js';
import { ledgerImportCommand } from './ledger-import.js';
import { ledgerReplayCommand } from './ledger-replay.js';

export function ledgerCommand(context: CliContext): Command {
  return new Command('ledger')
    .description('work with the records of what was served and what users did')
    .addCommand(ledgerImportCommand(context))
    .addCommand(ledgerCatCommand(context))
    .addCommand(ledgerReplayCommand(context));
}
