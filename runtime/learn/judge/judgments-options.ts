import { Option, type Command } from 'commander';
import { parseColumns } from './judgment-columns.js';
import { JUDGMENT_FORMATS, type FileFlags } from './read-judgments.js';

/** The options that `addJudgmentsOptions` adds to a command. */
export interface JudgmentsFlags extends FileFlags {
  readonly judgments?: string;
  readonly queryField?: string;
}

/** Adds the options for a file of judgments. */
export function addJudgmentsOptions(command: Command): Command {
  return command
    .option('--judgments <FILE>', 'file with the grades of candidates by query; - for standard input')
    .addOption(
      new Option('--format <FORMAT>', 'the format of the judgments, if the name does not show it').choices(
        JUDGMENT_FORMATS,
      ),
    )
    .addOption(
      new Option('--columns <NAMES>', 'columns of the file: query=NAME,id=NAME,grade=NAME').argParser(
        parseColumns,
      ),
    )
    .option('--query-field <FIELD>', 'field of the request that gets the query; also FIELD.ATTRIBUTE');
}
