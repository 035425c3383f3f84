import { Command } from 'commander';
import type { CliContext } from '../context.js';
import { ledgerReplayCommand } from './ledger-replay.js';

export function ledgerCommand(context: CliContext): Command {
  return new Command('ledger')
    .description('work with the records of requests')
    .addCommand(ledgerReplayCommand(context));
}
