import { Command } from 'commander';
import type { CliContext } from '../context.js';
import { experimentsReportCommand } from './experiments-report.js';

export function experimentsCommand(context: CliContext): Command {
  return new Command('experiments')
    .description('see what experiments on live traffic did')
    .addCommand(experimentsReportCommand(context));
}
