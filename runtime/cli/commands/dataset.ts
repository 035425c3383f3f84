import { Command } from 'commander';
import type { CliContext } from '../context.js';
import { buildDataSetCommand } from './dataset-build.js';

export function dataSetCommand(context: CliContext): Command {
  return new Command('dataset')
    .description('make data sets to learn from')
    .addCommand(buildDataSetCommand(context));
}
