import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { buildDataSet } from '../../dataset/build-data-set.js';
import {
  DEFAULT_WINDOW,
  OptionProblem,
  parseAdded,
  parseAttribution,
  parseExamined,
  parseLabel,
  parseSpan,
  parseSplit,
  parseTime,
  type AddedFeature,
  type Attribution,
  type DataSetOptions,
  type Examined,
  type Split,
} from '../../dataset/options.js';
import { DataSetProblem } from '../../dataset/problem.js';
import { DATA_FORMATS, type DataFormat } from '../../dataset/table-files.js';
import type { SettingFlags } from '../../settings/settings.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { dataSetText } from '../dataset/data-set-text.js';
import { CommandFailure, UsageError } from '../failure.js';
import { startProgress } from '../load/progress.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly ledger?: string;
  readonly pipeline?: string;
  readonly out: string;
  readonly label: ReadonlyMap<string, number>;
  readonly attribute: readonly Attribution[];
  readonly window?: number;
  readonly examined: Examined;
  readonly split: Split;
  readonly gap?: number;
  readonly since?: number;
  readonly until?: number;
  readonly add: readonly AddedFeature[];
  readonly format: DataFormat;
  readonly json?: boolean;
}

/** Steps of the progress bar. */
const STEPS = 1000;

export function buildDataSetCommand(context: CliContext): Command {
  const command = new Command('build')
    .description('join the rankings of a ledger with what users did, for training')
    .option('--ledger <DIR>', 'folder of the ledger [default: that of the project]')
    .option('--pipeline <NAME>', 'whose rankings; needed if the ledger has those of several')
    .requiredOption('--out <DIR>', 'folder of the data set; an earlier data set in it is replaced')
    .addOption(parsed('--label <GRADES>', 'the grade of each kind of feedback', parseLabel, 'click=1'))
    .addOption(
      parsed(
        '--attribute <RULES>',
        'how feedback without a request id finds its ranking, e.g. order=last_click:7d',
        parseAttribution,
      ).default([]),
    )
    .addOption(
      parsed('--window <SPAN>', 'how long after its ranking feedback counts [default: 7d]', parseSpan),
    )
    .addOption(
      parsed(
        '--examined <RULE>',
        'which rows the user has seen: page or last_click+K',
        parseExamined,
        'page',
      ),
    )
    .addOption(
      parsed('--split <RULE>', 'what is held out: time:SHARE or hash:TYPE:SHARE', parseSplit, 'time:80%'),
    )
    .addOption(
      parsed('--gap <SPAN>', 'time between the parts of a split by time [default: the window]', parseSpan),
    )
    .addOption(parsed('--since <TIME>', 'leave out earlier rankings', parseTime))
    .addOption(parsed('--until <TIME>', 'leave out rankings of this time and later', parseTime))
    .addOption(
      parsed('--add <VIEW:FEATURE...>', 'add a feature from the history of its view', (text) => text)
        .argParser((text: string, before: readonly AddedFeature[]) => [...before, read(parseAdded, text)])
        .default([]),
    )
    .addOption(
      new Option('--format <FORMAT>', 'format of the files').choices(DATA_FORMATS).default('parquet'),
    )
    .option('--json', 'print the manifest as JSON')
    .action((flags: Flags) => build(context, flags));
  return addSettingFlags(command, ['project', 'dataDir']);
}

async function build(context: CliContext, flags: Flags): Promise<void> {
  const options = optionsOf(flags);
  const ledger = flags.ledger ?? join((await settingsOf(context, flags)).dataDir, 'ledger');
  const isThere = await stat(ledger).catch(() => undefined);
  if (isThere === undefined)
    throw new CommandFailure(`there is no ledger ${ledger}`, 'name its folder with --ledger');
  const progress = startProgress(context.stderr, 'joining', STEPS, 'steps');
  try {
    const { manifest, warnings } = await buildDataSet(ledger, flags.out, flags.format, options, (fraction) =>
      progress.update(Math.round(fraction * STEPS), Math.round(fraction * STEPS)),
    );
    progress.stop();
    for (const warning of warnings) context.stderr.write(`warning: ${warning}\n`);
    if (flags.json === true) printJson(context, manifest);
    else context.stdout.write(dataSetText(manifest, flags.out));
  } catch (error) {
    if (!(error instanceof DataSetProblem)) throw error;
    throw new CommandFailure(error.message, error.help);
  } finally {
    progress.stop();
  }
}

/** @throws UsageError if options do not fit together */
function optionsOf(flags: Flags): DataSetOptions {
  const { label, attribute, split } = flags;
  for (const { event } of attribute)
    if (!label.has(event))
      throw new UsageError(`--attribute ${event}=…: ${event} has no grade; add it to --label`);
  if (flags.gap !== undefined && split.by === 'hash')
    throw new UsageError('--gap is for a split by time; a split by a hash has no gap');
  const window = flags.window ?? Math.max(DEFAULT_WINDOW, ...attribute.map(({ window: its }) => its));
  return {
    pipeline: flags.pipeline,
    label,
    attribute,
    window,
    examined: flags.examined,
    split,
    gap: flags.gap ?? window,
    since: flags.since ?? -Infinity,
    until: flags.until ?? Infinity,
    add: flags.add,
  };
}

/** An option whose value is parsed; `otherwise` is its default, as text. */
function parsed<T>(flags: string, text: string, parse: (text: string) => T, otherwise?: string): Option {
  const option = new Option(flags, text).argParser((value: string) => read(parse, value));
  return otherwise === undefined ? option : option.default(parse(otherwise), otherwise);
}

function read<T>(parse: (text: string) => T, value: string): T {
  try {
    return parse(value);
  } catch (error) {
    if (error instanceof OptionProblem) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
}
