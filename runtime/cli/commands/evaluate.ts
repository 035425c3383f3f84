import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { Command, Option } from 'commander';
import type { Gate } from '../../evaluation/gate.js';
import { OptionProblem, parseLabel } from '../../dataset/options.js';
import type { JudgedQuery } from '../../evaluation/judgments.js';
import { METRIC_NAMES, parseMetric, type Metric } from '../../evaluation/metric-names.js';
import { judged } from '../../evaluation/metrics.js';
import { evaluate, type QueryRankings } from '../../evaluation/report.js';
import { mean, quantile } from '../../evaluation/statistics.js';
import type { SettingFlags } from '../../settings/settings.js';
import { printJson, styleOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { startProgress } from '../load/progress.js';
import { namedBy, openContestants, type Contestants, type Named } from '../judge/contestants.js';
import { evaluationJson, type Evaluation } from '../judge/evaluation.js';
import { evaluationText } from '../judge/evaluation-text.js';
import { checkGate, parseGates } from '../judge/gates.js';
import { junitReport } from '../judge/junit.js';
import { judgedSource, loggedSource, type Source } from '../judge/evaluation-sources.js';
import { DEFAULT_LAST } from '../judge/logged-requests.js';
import { numberOption, wholeOption } from '../judge/options.js';
import { writeOutput } from '../judge/output.js';
import {
  rankJudged,
  RankingCounts,
  runRanker,
  type Ranker,
  type Scored,
  type Ties,
} from '../judge/rank-judged.js';
import {
  JUDGMENT_FORMATS,
  parseColumns,
  type Columns,
  type JudgmentFormat,
} from '../judge/read-judgments.js';
import { readTrecRun, trecRunLines } from '../judge/trec-run.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly judgments?: string;
  readonly ledger?: string;
  readonly last: number;
  readonly label: ReadonlyMap<string, number>;
  readonly gateOnClicks?: boolean;
  readonly format?: JudgmentFormat;
  readonly columns?: Columns;
  readonly queryField?: string;
  readonly metrics: readonly Metric[];
  readonly against?: string;
  readonly require: readonly string[];
  readonly slice?: string;
  readonly gain: 'exp2' | 'linear';
  readonly empty: 'skip' | '0' | '1';
  readonly ties: Ties;
  readonly relevant: number;
  readonly maxGrade?: number;
  readonly shuffles: number;
  readonly seed: number;
  readonly worst: number;
  readonly run?: string;
  readonly json?: boolean;
  readonly junit?: string;
}

export function evaluateCommand(context: CliContext): Command {
  const command = new Command('evaluate')
    .description('measure how well a pipeline ranks judged candidates')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/')
    .option('--judgments <FILE>', 'file with the grades of candidates by query; - for standard input')
    .addOption(
      new Option('--ledger <DIR>', 'take logged requests and their clicks instead of judgments').conflicts([
        'judgments',
        'format',
        'columns',
        'queryField',
        'slice',
      ]),
    )
    .addOption(wholeOption('--last <N>', 'how many requests of the ledger, the newest', DEFAULT_LAST))
    .addOption(
      new Option('--label <GRADES>', 'the grade of each kind of feedback in the ledger')
        .argParser(parseLabels)
        .default(parseLabels(DEFAULT_LABEL), DEFAULT_LABEL),
    )
    .option('--gate-on-clicks', 'allow --require with --ledger, although clicks favour what was at the top')
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
    .option('--query-field <FIELD>', 'field of the request that gets the query; also FIELD.ATTRIBUTE')
    .addOption(
      new Option('--metrics <NAMES>', `metrics, separated by commas: ${METRIC_NAMES.join(', ')}`)
        .argParser(parseMetrics)
        .default(parseMetrics(DEFAULT_METRICS), DEFAULT_METRICS),
    )
    .option('--against <BASELINE>', 'compare with another pipeline, a project folder, git:REF, or a TREC run')
    .option('--require <CONDITION...>', "fail unless it holds, e.g. 'lower(delta.ndcg@10) > -0.002'", [])
    .option('--slice <NAME>', 'column of the judgments, or attribute of the query, to report separately')
    .addOption(new Option('--gain <GAIN>', 'gain of NDCG').choices(['exp2', 'linear']).default('exp2'))
    .addOption(
      new Option('--empty <VALUE>', 'value of a query without a relevant candidate')
        .choices(['skip', '0', '1'])
        .default('skip'),
    )
    .addOption(
      new Option('--ties <ORDER>', 'order of equal scores: as sent, or by id as trec_eval does')
        .choices(['input', 'id'])
        .default('input'),
    )
    .addOption(numberOption('--relevant <GRADE>', 'least grade that is relevant', 1))
    .addOption(
      numberOption('--max-grade <GRADE>', 'highest grade of the scale, for ERR [default: in the file]'),
    )
    .addOption(wholeOption('--shuffles <N>', 'orders in which candidates are sent; 0: as in the file', 1))
    .addOption(wholeOption('--seed <N>', 'seed of the orders, intervals and tests', 0))
    .addOption(wholeOption('--worst <N>', 'number of worst queries to print', 5))
    .option('--run <FILE>', 'write the rankings as a TREC run')
    .option('--json', 'print the result as JSON, with every query')
    .option('--junit <FILE>', 'write the conditions as a JUnit report')
    .action((pipeline: string, flags: Flags) => evaluatePipeline(context, pipeline, flags));
  return addSettingFlags(command, ['project', 'store', 'dataDir']);
}

const DEFAULT_LABEL = 'click=1';
const DEFAULT_METRICS = 'ndcg@10,map,mrr,precision@10,recall@10,err@10';

async function evaluatePipeline(context: CliContext, name: string, flags: Flags): Promise<void> {
  checkSource(flags);
  const gates = parseGates(flags.require, flags.against !== undefined);
  const named: Named = { kind: 'pipeline', text: name };
  const baseline = flags.against === undefined ? undefined : await namedBy(flags.against);
  const run = baseline?.kind === 'file' ? await readTrecRun(context, baseline.path) : undefined;
  const contestants = await openContestants(context, flags, [
    named,
    ...(baseline === undefined || run !== undefined ? [] : [baseline]),
  ]);
  let evaluation: Evaluation;
  try {
    evaluation = await evaluateOpen(context, flags, gates, contestants, baseline, run);
  } finally {
    await contestants.close();
  }
  if (flags.json === true) printJson(context, evaluationJson(evaluation));
  else context.stdout.write(evaluationText(evaluation, flags.worst, styleOf(context, context.stdout).width));
  if (flags.junit !== undefined) await writeOutput(flags.junit, junitReport(evaluation));
  const failed = evaluation.gates.filter(({ passed }) => !passed).length;
  if (failed > 0)
    throw new CommandFailure(
      `${failed} of ${evaluation.gates.length} conditions of --require ${failed === 1 ? 'does' : 'do'} not hold`,
    );
}

async function evaluateOpen(
  context: CliContext,
  flags: Flags,
  gates: readonly Gate[],
  { all }: Contestants,
  baseline: Named | undefined,
  run: ReadonlyMap<string, readonly Scored[]> | undefined,
): Promise<Evaluation> {
  const [main] = all;
  if (main === undefined) throw new Error('no pipeline was opened');
  const source =
    flags.ledger === undefined
      ? await judgedSource(context, flags, all, main)
      : await loggedSource(context, flags, flags.ledger, all, main);
  const { queries, slices } = source;
  const rankers = [...source.rankers];
  if (run !== undefined) rankers.push(runRanker(baseline?.text ?? '', run));
  const counts = rankers.map(() => new RankingCounts());
  const rankings = await rankAll(context, flags, source, rankers, counts, slices, main.label);
  const metrics = allMetrics(flags.metrics, gates);
  const options = {
    gain: flags.gain,
    relevant: flags.relevant,
    maxGrade: flags.maxGrade ?? highestGrade(queries),
    empty: flags.empty === 'skip' ? ('skip' as const) : flags.empty === '1' ? (1 as const) : (0 as const),
    seed: flags.seed,
  };
  const report = evaluate(rankings, metrics, options);
  const [own = new RankingCounts(), other] = counts;
  const gateCounts = {
    queries: report.metrics[0]?.queries ?? 0,
    unjudged: own.unjudged,
    removed: own.removed,
    missing: own.missing,
    degraded: own.degradedRankings,
  };
  const depth = metrics.find(({ k }) => Number.isFinite(k))?.k ?? 10;
  return {
    pipeline: main.definition.name,
    against: flags.against,
    source: flags.ledger === undefined ? { judgments: flags.judgments ?? '' } : { ledger: flags.ledger },
    report,
    queries: queries.length,
    medianCandidates: quantile(Float64Array.from(queries, ({ candidates }) => candidates.length).sort(), 0.5),
    counts: own,
    baselineCounts: other,
    judgedAt: {
      k: depth,
      mean: mean(rankings.flatMap((one) => one.rankings.flatMap((ranking) => judged(ranking, depth) ?? []))),
    },
    slice: flags.slice,
    gates: gates.map((gate) => checkGate(gate, report, gateCounts)),
    empty: options.empty,
  };
}

/** @throws UsageError if the flags do not say what to measure on, or gate on clicks by accident */
function checkSource({ judgments, ledger, require, gateOnClicks }: Flags): void {
  if (judgments === undefined && ledger === undefined)
    throw new UsageError('name the judgments with --judgments FILE, or the ledger with --ledger DIR');
  if (ledger !== undefined && require.length > 0 && gateOnClicks !== true)
    throw new UsageError(
      'agreement with clicks is no gate: clicks favour what was at the top. Gate on --judgments, or add --gate-on-clicks',
    );
}

async function rankAll(
  { stderr }: CliContext,
  flags: Flags,
  { queries, shuffles }: Source,
  rankers: readonly Ranker[],
  counts: readonly RankingCounts[],
  slices: ReadonlyMap<string, string> | undefined,
  tag: string,
): Promise<readonly QueryRankings[]> {
  const rankings: QueryRankings[] = [];
  const output = flags.run === undefined ? undefined : createWriteStream(flags.run);
  const failed =
    output &&
    once(output, 'finish').catch((error: unknown) => {
      throw new CommandFailure(`cannot write ${flags.run ?? ''}: ${(error as Error).message}`);
    });
  failed?.catch(() => undefined); // it is awaited at the end
  const judgedRankings = rankJudged(
    queries,
    rankers,
    counts,
    { ...flags, shuffles },
    (ranker, { query }, shuffle, ranked) => {
      if (ranker === 0 && shuffle === 0) output?.write(trecRunLines(query, ranked, tag));
    },
  );
  const progress = startProgress(stderr, 'ranking', queries.length, 'queries');
  try {
    for await (const { query, rankings: byRanker } of judgedRankings) {
      const [own = [], baseline] = byRanker;
      rankings.push({
        query: query.query,
        slice: slices?.get(query.query),
        rankings: own,
        ...(baseline === undefined ? {} : { baseline }),
      });
      progress.update(rankings.length, rankings.length);
    }
  } finally {
    progress.stop();
    output?.end();
  }
  await failed;
  return rankings;
}

/** The metrics that are asked for, and those that only conditions read. */
function allMetrics(asked: readonly Metric[], gates: readonly Gate[]): readonly Metric[] {
  const metrics = new Map(asked.map((metric) => [metric.name, metric]));
  for (const { value } of gates) if (value.kind === 'metric') metrics.set(value.metric.name, value.metric);
  return [...metrics.values()];
}

function highestGrade(queries: readonly JudgedQuery[]): number {
  let highest = 1;
  for (const { candidates } of queries)
    for (const { grade } of candidates) if (grade > highest) highest = grade;
  return highest;
}

function parseLabels(text: string): ReadonlyMap<string, number> {
  try {
    return parseLabel(text);
  } catch (error) {
    if (error instanceof OptionProblem) throw new UsageError(`--label ${text}: ${error.message}`);
    throw error;
  }
}

function parseMetrics(text: string): readonly Metric[] {
  return text.split(',').map((name) => {
    const metric = parseMetric(name.trim());
    if ('problem' in metric) throw new UsageError(`--metrics ${text}: ${metric.problem}; ${metric.help}`);
    return metric;
  });
}
