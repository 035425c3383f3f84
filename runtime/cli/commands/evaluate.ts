import { Command, Option } from 'commander';
import { OptionProblem, parseLabel } from '../../learn/dataset/options.js';
import { METRIC_NAMES, parseMetric, type Metric } from '../../learn/evaluation/metric-names.js';
import { ESTIMATORS, REWARDS } from '../../learn/off-policy/estimate.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { namedBy, openContestants, type Named } from '../contestants.js';
import { evaluationJson, type Evaluation } from '../../learn/judge/evaluation.js';
import { evaluationTree } from '../../learn/report/evaluation-tree.js';
import { writeReport } from '../report/write-report.js';
import { evaluationText } from '../report/report.js';
import { parseGates } from '../../learn/judge/gates.js';
import { addJudgmentsOptions } from '../../learn/judge/judgments-options.js';
import { junitOfGates } from '../report/junit.js';
import { DEFAULT_LAST } from '../../learn/judge/logged-requests.js';
import { numberOption, wholeOption } from '../../learn/judge/options.js';
import { writeOutput } from '../report/output.js';
import {
  offPolicyJson,
  offPolicyText,
  runOffPolicy,
  TARGETS,
  type OffPolicyFlags,
} from '../../learn/judge/off-policy.js';
import { runEvaluation, type EvaluationFlags } from '../../learn/judge/run-evaluation.js';
import { readTrecRun } from '../../learn/judge/trec-run.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags, EvaluationFlags, Omit<OffPolicyFlags, 'estimator'> {
  readonly estimator?: OffPolicyFlags['estimator'];
  readonly gateOnClicks?: boolean;
  readonly require: readonly string[];
  readonly json?: boolean;
  readonly junit?: string;
  readonly html?: string;
}

export function evaluateCommand(context: CliContext): Command {
  const command = new Command('evaluate')
    .description('measure how well a pipeline ranks judged candidates')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/');
  addMetricOptions(addLedgerOptions(addJudgmentsOptions(command))).action(
    (pipeline: string, flags: Flags, own: Command) =>
      flags.estimator === undefined
        ? evaluatePipeline(context, pipeline, checkEstimated(flags, own))
        : estimateOffPolicy(context, pipeline, { ...flags, estimator: flags.estimator }, own),
  );
  return addSettingFlags(command, ['project', 'store', 'dataDir']);
}

/** Where the requests come from that are no judgments. */
function addLedgerOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--ledger <DIR>', 'take logged requests and their clicks instead of judgments').conflicts([
        'judgments',
        'format',
        'columns',
        'queryField',
        'slice',
      ]),
    )
    .addOption(
      new Option(
        '--estimator <NAME>',
        'estimate what users would do, from pages that the ledger has with their probabilities',
      )
        .choices(ESTIMATORS)
        .conflicts(['judgments', 'against', 'metrics', 'require', 'run', 'junit', 'html', 'shuffles']),
    )
    .addOption(
      new Option('--reward <MODEL>', 'with --estimator: what the feedback on a place depends on')
        .choices(REWARDS)
        .default('item_position'),
    )
    .addOption(
      new Option(
        '--target <WHAT>',
        'with --estimator: the pipeline shows its ranking, or each candidate with its score as probability',
      )
        .choices(TARGETS)
        .default('ranking'),
    )
    .option('--logged-by <NAME>', 'with --ledger: the pipeline whose requests are used, if not this one')
    .addOption(
      wholeOption(
        '--last <N>',
        `how many requests of the ledger, the newest; with --estimator by default ${LAST_DRAWN}`,
        DEFAULT_LAST,
      ),
    )
    .addOption(
      new Option('--label <GRADES>', 'the grade of each kind of feedback in the ledger')
        .argParser(parseLabels)
        .default(parseLabels(DEFAULT_LABEL), DEFAULT_LABEL),
    )
    .option('--gate-on-clicks', 'allow --require with --ledger, although clicks favour what was at the top');
}

/** What is measured, compared, required and written. */
function addMetricOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--metrics <NAMES>', `metrics, separated by commas: ${METRIC_NAMES.join(', ')}`)
        .argParser(parseMetrics)
        .default(parseMetrics(DEFAULT_METRICS), DEFAULT_METRICS),
    )
    .option('--against <BASELINE>', 'compare with another pipeline, a project folder, git:REF, or a TREC run')
    .addOption(
      new Option(
        '--require <CONDITION...>',
        "fail unless it holds, e.g. 'lower(delta.ndcg@10) > -0.002'",
      ).default([], 'none'),
    )
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
    .option('--html <FILE>', 'write a page with the worst and best queries: one file that loads nothing')
    .option('--junit <FILE>', 'write the conditions as a JUnit report');
}

/** A draw needs little memory, and an estimate needs many. */
const LAST_DRAWN = 100_000;
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
    const wanted = { ...flags, pages: flags.html !== undefined };
    evaluation = await runEvaluation(
      context,
      wanted,
      gates,
      contestants.all,
      run && { name: baseline?.text ?? '', run },
    );
  } finally {
    await contestants.close();
  }
  if (flags.json === true) printJson(context, evaluationJson(evaluation));
  else
    context.stdout.write(evaluationText(evaluationTree(evaluation), styleOf(context, context.stdout).width));
  if (flags.html !== undefined) await writeReport(context, flags.html, evaluationTree(evaluation));
  if (flags.junit !== undefined) await writeOutput(flags.junit, junitOfGates(evaluation));
  const failed = evaluation.gates.filter(({ passed }) => !passed).length;
  if (failed > 0)
    throw new CommandFailure(
      `${failed} of ${evaluation.gates.length} conditions of --require ${failed === 1 ? 'does' : 'do'} not hold`,
    );
}

/** @throws UsageError for an option of an estimate without --estimator */
function checkEstimated(flags: Flags, command: Command): Flags {
  for (const [name, flag] of [
    ['reward', '--reward'],
    ['target', '--target'],
  ] as const)
    if (command.getOptionValueSource(name) === 'cli')
      throw new UsageError(`${flag} needs --estimator ips or --estimator snips`);
  return flags;
}

async function estimateOffPolicy(
  context: CliContext,
  name: string,
  flags: Flags & Required<Pick<Flags, 'estimator'>>,
  command: Command,
): Promise<void> {
  if (flags.ledger === undefined)
    throw new UsageError('--estimator needs --ledger DIR: it reuses logged pages, and judgments have none');
  const last = command.getOptionValueSource('last') === 'cli' ? flags.last : LAST_DRAWN;
  const contestants = await openContestants(context, flags, [{ kind: 'pipeline', text: name }]);
  try {
    const [main] = contestants.all;
    if (main === undefined) throw new Error('no pipeline was opened');
    const report = await runOffPolicy(context, flags, flags.ledger, last, main);
    if (flags.json === true) printJson(context, offPolicyJson(report));
    else context.stdout.write(offPolicyText(report));
  } finally {
    await contestants.close();
  }
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
