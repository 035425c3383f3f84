import { Command, InvalidArgumentError, Option } from 'commander';
import { buildDataSet, type BuiltDataSet } from '../../learn/dataset/build-data-set.js';
import { isResumable } from '../../learn/dataset/build-work.js';
import { workFolder } from '../../learn/dataset/data-set-files.js';
import { joinSql, type SqlView } from '../../learn/dataset/join-sql.js';
import { SQL_DIALECTS } from '../../learn/dataset/sql-dialects.js';
import {
  DEFAULT_WINDOW,
  MILLION,
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
} from '../../learn/dataset/options.js';
import { groupBy } from '../../ground/core/group-by.js';
import { didYouMean } from '../../ground/core/nearest.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { loadProject } from '../../project/config/project/load-project.js';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { unknownPipeline } from '../../serve/app/project/unknown-pipeline.js';
import { DataSetProblem } from '../../learn/dataset/problem.js';
import { DATA_FORMATS, type DataFormat } from '../../learn/dataset/table-files.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { dataSetText } from '../report/data-set-text.js';
import { buildJudged } from '../dataset/judged-data-set.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { parseColumns, type Columns } from '../../learn/judge/judgment-columns.js';
import { JUDGMENT_FORMATS, type JudgmentFormat } from '../../learn/judge/read-judgments.js';
import { startProgress } from '../../ground/core/progress.js';
import { removeNow } from '../../ground/core/scratch-folder.js';
import type { ValueType } from '../../ground/api/types.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly ledger?: string;
  readonly pipeline?: string;
  readonly out: string;
  readonly label: ReadonlyMap<string, number>;
  readonly attribute: readonly Attribution[];
  readonly window?: number;
  readonly examined: Examined;
  readonly split?: Split;
  readonly judgments?: string;
  readonly judgmentFormat?: JudgmentFormat;
  readonly columns?: Columns;
  readonly queryField?: string;
  readonly gap?: number;
  readonly since?: number;
  readonly until?: number;
  readonly add: readonly AddedFeature[];
  readonly today?: ReadonlySet<string>;
  readonly format: DataFormat;
  readonly sql?: keyof typeof SQL_DIALECTS;
  readonly json?: boolean;
}

/** The options that judgments do not have. */
const OF_LEDGER = [
  'ledger',
  'label',
  'attribute',
  'window',
  'examined',
  'gap',
  'since',
  'until',
  'add',
  'today',
  'sql',
] as const;
/** The share of the requests that is not held out, without --split. */
const TRAIN = 0.8 * MILLION;

/** Which features of a view SQL joins. */
const IS_TEXT: Readonly<Partial<Record<ValueType['kind'], boolean>>> = {
  ...{ int: false, float: false, bool: false, string: true, ref: true },
};

/** Steps of the progress bar. */
const STEPS = 1000;

export function buildDataSetCommand(context: CliContext): Command {
  const command = new Command('build')
    .description('join the rankings of a ledger with what users did, for training')
    .argument('[PIPELINE]', 'whose rankings; needed if the ledger has those of several')
    .option('--ledger <DIR>', 'folder of the ledger [default: that of the project]')
    .requiredOption('--out <DIR>', 'folder of the data set; an earlier data set in it is replaced')
    .addOption(parsed('--label <GRADES>', 'the grade of each kind of feedback', parseLabel, 'click=1'))
    .addOption(
      parsed(
        '--attribute <RULES>',
        'how feedback without a request id finds its ranking, e.g. order=last_click:7d',
        parseAttribution,
      ).default([], 'none'),
    )
    .addOption(
      parsed(
        '--window <SPAN>',
        'how long after its ranking feedback counts [default: 7d, or a tenth of a shorter imported log]',
        parseSpan,
      ),
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
      parsed(
        '--split <RULE>',
        'what to train on: time:SHARE or hash:TYPE:SHARE [default: time:80%; of judgments hash:request:80%]',
        parseSplit,
      ),
    )
    .addOption(
      parsed('--gap <SPAN>', 'time between the parts of a split by time [default: the window]', parseSpan),
    )
    .addOption(parsed('--since <TIME>', 'leave out earlier rankings', parseTime))
    .addOption(parsed('--until <TIME>', 'leave out rankings of this time and later', parseTime))
    .addOption(
      new Option('--add <VIEW:FEATURE...>', 'add a feature from the history of its view')
        .argParser((text: string, before: readonly AddedFeature[]) => [...before, read(parseAdded, text)])
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--today <NAMES>',
        'keep values of imported rankings that are of today: attributes, features, what has them, or all',
      ).argParser((text: string) => new Set(text.split(',').map((name) => name.trim()))),
    )
    .addOption(
      new Option('--format <FORMAT>', 'format of the files').choices(DATA_FORMATS).default('parquet'),
    )
    .addOption(
      new Option(
        '--sql <DIALECT>',
        'print SQL that does the same; --ledger is then the folder of `ledger compact`',
      ).choices(Object.keys(SQL_DIALECTS)),
    )
    .option('--json', 'print the manifest as JSON')
    .option('--judgments <FILE>', 'run the pipeline on judged queries instead of reading a ledger')
    .addOption(
      new Option(
        '--judgment-format <FORMAT>',
        'the format of the judgments, if the name does not show it',
      ).choices(JUDGMENT_FORMATS),
    )
    .addOption(
      new Option('--columns <NAMES>', 'columns of the judgments: query=NAME,id=NAME,grade=NAME').argParser(
        parseColumns,
      ),
    )
    .option('--query-field <FIELD>', 'field of the request that gets the query; also FIELD.ATTRIBUTE')
    .action((pipeline: string | undefined, flags: Flags) =>
      build(context, pipeline === undefined ? flags : { ...flags, pipeline }, command),
    );
  return addSettingFlags(command, ['project', 'store', 'dataDir']);
}

async function build(context: CliContext, flags: Flags, command: Command): Promise<void> {
  if (flags.judgments !== undefined) {
    const { pipeline, judgments } = flags;
    if (pipeline === undefined) {
      const { pipelines } = await configOf(context, flags);
      const names = pipelines.map(({ name }) => name).join(', ');
      throw new UsageError(`--judgments needs the name of a pipeline; the project has ${names}`);
    }
    for (const name of OF_LEDGER)
      if (command.getOptionValueSource(name) === 'cli')
        throw new UsageError(`--${name} is for a ledger; leave it out with --judgments`);
    const split = flags.split ?? { by: 'hash', type: 'request', train: TRAIN };
    if (split.by === 'time')
      throw new UsageError('judgments have no time; split them by a hash, e.g. --split hash:request:80%');
    const built = await buildIn(context, flags.out, () =>
      buildJudged(context, pipeline, { ...flags, judgments }, split),
    );
    print(context, flags, built);
    return;
  }
  const options = optionsOf(flags);
  if (flags.sql !== undefined) {
    context.stdout.write(await sqlOf(context, flags, options));
    return;
  }
  const ledger = flags.ledger ?? (await settingsOf(context, flags)).ledgerDir;
  await checkLedger(context, ledger);
  const progress = startProgress(context.stderr, 'joining', STEPS, 'steps');
  try {
    const built = await buildIn(context, flags.out, () =>
      buildDataSet(ledger, flags.out, flags.format, options, {
        progress: (fraction) => {
          progress.update(Math.round(fraction * STEPS), Math.round(fraction * STEPS));
        },
        resumed: (done, parts) =>
          context.stderr.write(
            `note: continues a build that was stopped: ${done} of ${parts} partitions were joined\n`,
          ),
      }),
    );
    progress.stop();
    print(context, flags, built);
  } finally {
    progress.stop();
  }
}

/** @param folder of the data set */
async function buildIn<T>(context: CliContext, folder: string, build: () => Promise<T>): Promise<T> {
  const work = workFolder(folder);
  const release =
    context.beforeSignal?.(() => {
      if (isResumable(work))
        context.stderr.write(`stopped: the same command continues; or remove ${folder}\n`);
      else if (!removeNow(work)) context.stderr.write(`could not remove ${work}\n`);
    }) ?? (() => undefined);
  try {
    return await build();
  } catch (error) {
    if (!(error instanceof DataSetProblem)) throw error;
    throw new CommandFailure(error.message, error.help);
  } finally {
    release();
  }
}

function print(context: CliContext, { out, json }: Flags, { manifest, warnings }: BuiltDataSet): void {
  for (const warning of warnings) context.stderr.write(`warning: ${warning}\n`);
  if (json === true) printJson(context, manifest);
  else context.stdout.write(dataSetText(manifest, out));
}

/** @throws UsageError for what the SQL does not do */
async function sqlOf(context: CliContext, flags: Flags, options: DataSetOptions): Promise<string> {
  const { ledger, out, format, sql = 'duckdb' } = flags;
  const { pipeline, add } = options;
  if (pipeline === undefined || ledger === undefined)
    throw new UsageError(
      '--sql needs the name of a pipeline, and --ledger with the folder that `ledger compact` wrote',
    );
  if (format !== 'parquet') throw new UsageError('--sql writes Parquet; leave out --format');
  const views = add.length === 0 ? [] : await viewsOf(context, flags, pipeline, add);
  return joinSql(SQL_DIALECTS[sql], ledger, out, { ...options, pipeline, views });
}

/** The views of the project whose histories are joined: SQL cannot look up their keys. */
async function viewsOf(
  context: CliContext,
  flags: Flags,
  pipeline: string,
  add: readonly AddedFeature[],
): Promise<SqlView[]> {
  const config = await configOf(context, flags);
  const ranks = config.pipelines.find(({ name }) => name === pipeline)?.candidateType.value;
  if (ranks === undefined)
    throw unknownPipeline(
      pipeline,
      config.pipelines.map(({ name }) => name),
      config.root,
    );
  const candidate = config.entities.get(ranks);
  return [...groupBy(add, ({ view }) => view)].map(([name, added]): SqlView => {
    const view = config.views.get(name);
    if (view?.history !== true)
      throw new CommandFailure(
        `the project has no view ${name} with a history`,
        didYouMean(name, config.views.keys()) ?? 'write history: true in the file of the view',
      );
    const features = [...new Set(added.map(({ feature }) => feature))].map((feature) => {
      const found = view.features.get(feature);
      const isText = found === undefined ? undefined : IS_TEXT[found.type.kind];
      if (isText !== undefined) return { name: feature, isText };
      if (found !== undefined)
        throw new UsageError(`--sql joins numbers and texts; ${name}:${feature} is a ${found.type.kind}`);
      throw new CommandFailure(
        `the view ${name} has no feature ${feature}`,
        didYouMean(feature, view.features.keys()) ?? `it has ${[...view.features.keys()].join(', ')}`,
      );
    });
    const keys = view.of.map((type): SqlView['keys'][number] => {
      if (type === ranks) return 'candidate';
      return candidate?.attributes.has(type) === true ? { column: `${ranks}.${type}` } : { entity: type };
    });
    return { view: name, keys, features };
  });
}

/** @throws ProjectInvalidError */
async function configOf(context: CliContext, flags: Flags): Promise<ProjectConfig> {
  const { project } = await settingsOf(context, flags);
  const { config, diagnostics } = await loadProject(project, context.env);
  if (config === undefined) throw new ProjectInvalidError(diagnostics);
  return config;
}

/** @throws UsageError if options do not fit together */
function optionsOf(flags: Flags): DataSetOptions {
  const { label, attribute, split = { by: 'time', train: TRAIN } } = flags;
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
    ...(flags.today === undefined ? {} : { today: flags.today }),
    fits: { window: flags.window === undefined, gap: flags.gap === undefined },
  };
}

/** An option whose value is parsed; `otherwise` is its default, as text. */
function parsed(flags: string, text: string, parse: (text: string) => unknown, otherwise?: string): Option {
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
