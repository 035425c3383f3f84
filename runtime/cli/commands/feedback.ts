import { Command, Option } from 'commander';
import { READY_MAPS } from '../../project/config/project/ready-maps.js';
import type { CliContext } from '../context.js';
import { loadLog, type LoadLogFlags } from '../feedback-load/load-log.js';
import { addTargetFlags } from '../setting-flags.js';
import { DEFAULT_WITHIN, duration } from './ledger-import.js';

export function feedbackCommand(context: CliContext): Command {
  const load = new Command('load')
    .description('fill histories, counters and the ledger with what the log of a shop tells, oldest first')
    .argument('<FILES...>', 'files or folders: .csv, .tsv, .jsonl, .ndjson, .json or .parquet, also with .gz')
    .requiredOption('--map <MAP>', `how to read them: ${READY_MAPS.join(', ')}, or a file`)
    .option('--about <TYPE>', 'the entity type that users act on; needed if the pipelines rank several')
    .option('--rejected <FILE>', 'where samples of rejected rows go', 'feedback-rejected.jsonl')
    .addOption(
      new Option('--within <TIME>', 'how long after a list was shown a click without a request can come')
        .argParser(duration)
        .default(DEFAULT_WITHIN, '30m'),
    )
    .option('--resume', 'continue an interrupted load of these files instead of starting again')
    .option('--json', 'print the counts as JSON')
    .action((words: readonly string[], flags: LoadLogFlags) => loadLog(context, words, flags));
  return new Command('feedback').description('work with feedback').addCommand(addTargetFlags(load));
}
