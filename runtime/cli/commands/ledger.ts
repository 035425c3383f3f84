import { Command } from 'commander';
import type { CliContext } from '../context.js';
import { ledgerCatCommand } from './ledger-cat.js';
import { ledgerCompactCommand } from './ledger-compact.js';
import { ledgerImportCommand } from './ledger-import.js';
import { ledgerPropensitiesCommand } from './ledger-propensities.js';
import { ledgerReplayCommand } from './ledger-replay.js';
import { ledgerStatsCommand } from './ledger-stats.js';

export function ledgerCommand(context: CliContext): Command {
  return new Command('ledger')
    .description('work with the records of what was served and what users did')
    .addCommand(ledgerImportCommand(context))
    .addCommand(ledgerCatCommand(context))
    .addCommand(ledgerCompactCommand(context))
    .addCommand(ledgerStatsCommand(context))
    .addCommand(ledgerReplayCommand(context))
    .addCommand(ledgerPropensitiesCommand(context));
}
