import { Command, InvalidArgumentError, Option } from 'commander';
import { printable } from '../../ground/core/display-width.js';
import { MillraceError } from '../../ground/api/errors.js';
import { TIME_FORMS, timestampOf } from '../../ground/core/timestamp.js';
import { printJson, settingsOf, styleOf, tellStrayErrors, type CliContext } from '../context.js';
import type { PipelineAnswer, RankingAnswer, ScoreAnswer } from '../../request/pipeline/answer-types.js';
import { explanationText } from '../explanation-text.js';
import { CommandFailure, UsageError } from '../failure.js';
import { loggedBody } from '../judge/logged-body.js';
import { requestShape } from '../judge/request-shape.js';
import { wholeOption } from '../judge/options.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import type { DataTarget } from '../load/target.js';
import { readPipeline } from '../project-types.js';
import { findJudgedQuery, rankJudgedQuery } from '../rank/judged-query.js';
import { judgedJson, judgedText } from '../rank/judged-text.js';
import { readRequests, type SourcedRequest } from '../rank/read-requests.js';
import { reportError } from '../report-error.js';
import { addTargetFlags } from '../setting-flags.js';
import { renderTable } from '../table.js';

interface Flags extends TargetFlags {
  readonly logged?: string;
  readonly ledger?: string;
  readonly judged?: string;
  readonly all?: string;
  readonly query?: string;
  readonly judgments?: string;
  readonly queryField?: string;
  readonly most: number;
  /** Epoch milliseconds. */
  readonly at?: number;
  readonly json?: boolean;
  readonly explain?: boolean;
}

export function rankCommand(context: CliContext): Command {
  const rank = new Command('rank')
    .description('send requests to a pipeline and print the answers')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/')
    .argument('[REQUEST.json...]', 'files with bodies: JSON, a list, or JSON lines; - for standard input')
    .option('--all <WHERE>', 'instead, rank the entities of the index that meet a condition; true for all')
    .option('--query <TEXT>', 'with --all, the query')
    .option('--judged <QUERY>', 'instead, rank the judged candidates of a query')
    .option('--judgments <FILE>', 'with --judged, the judgments [default: the files of judgments/]')
    .option('--query-field <FIELD>', 'with --judged or --query, the field of the request that gets it')
    .addOption(wholeOption('--most <N>', 'with --judged, the most candidates to print', 10))
    .option('--logged <ID>', 'instead, send the logged request with this request_id again')
    .option('--ledger <DIR>', 'with --logged, the folder of the ledger [default: that of the project]')
    .addOption(
      new Option('--at <TIME>', 'a preview: apply the dated rules of curation/ as at this time').argParser(
        timeOf,
      ),
    )
    .option('--json', 'print the answer of the route as JSON; for several requests, one a line')
    .option('--explain', 'explain the answer: print every value with its status, and what each step did')
    .action((pipeline: string, files: readonly string[], flags: Flags) =>
      rankRequests(context, pipeline, files, flags),
    );
  return addTargetFlags(rank);
}

async function rankRequests(
  context: CliContext,
  pipeline: string,
  files: readonly string[],
  flags: Flags,
): Promise<void> {
  checkSources(files, flags);
  if (flags.judged !== undefined) {
    await printJudged(context, pipeline, flags.judged, flags);
    return;
  }
  const requests = await requestsOf(context, pipeline, files, flags);
  tellStrayErrors(context, await settingsOf(context, flags));
  const target = await openTarget(context, flags, 'pipelines');
  try {
    const [only, ...more] = requests;
    if (only !== undefined && more.length === 0)
      await printAnswer(context, target, pipeline, only.body, flags);
    else await printAnswers(context, target, pipeline, requests, flags);
  } finally {
    await target.close();
  }
}

/** @throws UsageError unless the command line says in one way what to send */
function checkSources(
  files: readonly string[],
  { logged, ledger, judged, judgments, all, query, at }: Flags,
): void {
  const ways = [files.length > 0, logged !== undefined, judged !== undefined, all !== undefined];
  if (ways.filter(Boolean).length !== 1 || (ledger !== undefined && logged === undefined))
    throw new UsageError(
      'rank needs either files with requests, or --judged QUERY, --logged ID or --all WHERE',
    );
  if (judgments !== undefined && judged === undefined)
    throw new UsageError('--judgments needs --judged QUERY');
  if (at !== undefined && judged !== undefined)
    throw new UsageError('--at goes with requests, --all or --logged, not with --judged');
  if (query !== undefined && all === undefined) throw new UsageError('--query needs --all WHERE');
}

async function requestsOf(
  context: CliContext,
  pipeline: string,
  files: readonly string[],
  flags: Flags,
): Promise<readonly SourcedRequest[]> {
  const { logged, all, query, queryField } = flags;
  if (logged !== undefined)
    return [{ source: logged, body: await loggedRequestOf(context, pipeline, logged, flags) }];
  if (all === undefined) return await readRequests(context, files);
  const candidates = { from: 'index', where: all };
  if (query === undefined) return [{ source: '--all', body: { candidates } }];
  const { definition, config } = await readPipeline(context, flags, pipeline);
  const shape = requestShape({ definition, project: { config } }, queryField);
  return [
    { source: '--all', body: { ...shape.bodyOf({ query, candidates: [], context: {} }, []), candidates } },
  ];
}

async function printAnswer(
  context: CliContext,
  target: DataTarget,
  pipeline: string,
  body: unknown,
  flags: Flags,
): Promise<void> {
  if (flags.explain === true) {
    const explanation = await target.explain(pipeline, body, flags.at);
    if (flags.json === true) printJson(context, explanation);
    else context.stdout.write(explanationText(explanation, styleOf(context, context.stdout).width));
    return;
  }
  const answer = await answerOf(context, target, pipeline, body, flags);
  if (flags.json === true) printJson(context, answer);
  else context.stdout.write(answerText(answer));
}

/** The answer of the route; in a preview, the answer that an explanation has, so that nothing is recorded. */
async function answerOf(
  context: CliContext,
  target: DataTarget,
  pipeline: string,
  body: unknown,
  { at }: Flags,
): Promise<PipelineAnswer> {
  if (at !== undefined) return (await target.explain(pipeline, body, at)).answer;
  const { answer, misspelt } = await target.run(pipeline, body);
  for (const one of misspelt === '' ? [] : misspelt.split(', ')) {
    const [field = '', near = ''] = one.split(';near=');
    context.stderr.write(
      `warning: nothing declares the field ${printable(field)}, so it is ignored; did you mean ${printable(near)}?\n`,
    );
  }
  return answer;
}

function timeOf(text: string): number {
  const time = timestampOf(/^\d+$/.test(text) ? Number(text) : text);
  if (Number.isNaN(time)) throw new InvalidArgumentError(`Expected ${TIME_FORMS}.`);
  return time;
}

/** A request that fails does not stop the others. @throws CommandFailure if one failed */
async function printAnswers(
  context: CliContext,
  target: DataTarget,
  pipeline: string,
  requests: readonly SourcedRequest[],
  flags: Flags,
): Promise<void> {
  let failed = 0;
  for (const { source, body } of requests) {
    try {
      if (flags.json === true) {
        const value = await (flags.explain === true
          ? target.explain(pipeline, body, flags.at)
          : answerOf(context, target, pipeline, body, flags));
        context.stdout.write(`${JSON.stringify(value)}\n`);
      } else {
        context.stdout.write(`${source}\n`);
        await printAnswer(context, target, pipeline, body, flags);
      }
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code === 'unknown_pipeline') throw error;
      failed += 1;
      context.stderr.write(`${source}:\n`);
      reportError(error, context);
      // Line n of the output stays the answer to request n.
      if (flags.json === true) context.stdout.write('null\n');
    }
  }
  if (failed > 0) throw new CommandFailure(`${failed} of ${requests.length} requests failed`);
}

async function printJudged(
  context: CliContext,
  pipeline: string,
  judged: string,
  flags: Flags,
): Promise<void> {
  const { definition, config } = await readPipeline(context, flags, pipeline);
  if (definition.task !== 'rank') throw new UsageError(`${pipeline} scores one entity, so it ranks no query`);
  const found = await findJudgedQuery(context, judged, flags, definition, config);
  tellStrayErrors(context, await settingsOf(context, flags));
  const target = await openTarget(context, flags, 'pipelines');
  try {
    const places = await rankJudgedQuery(target, definition, found);
    if (flags.json === true) {
      printJson(context, judgedJson(judged, places));
      return;
    }
    const { width } = styleOf(context, context.stdout);
    const options = { steps: flags.explain === true, most: flags.most, width };
    context.stdout.write(judgedText(places, definition.candidateType.value, options));
  } finally {
    await target.close();
  }
}

function answerText(answer: PipelineAnswer): string {
  return answer.ranked_candidates === undefined ? scoreText(answer) : rankingText(answer);
}

function rankingText({ ranked_candidates: ranked }: RankingAnswer): string {
  return renderTable(
    [
      { title: 'place', align: 'right' },
      { title: 'candidate_id', max: 50 },
      { title: 'ranked_score', align: 'right' },
    ],
    ranked.map((one, at) => [String(at + 1), one.candidate_id, one.ranked_score.toFixed(6)]),
  );
}

function scoreText(answer: ScoreAnswer): string {
  return renderTable(
    [{ title: 'name' }, { title: 'value', max: 60 }],
    Object.entries(answer)
      .filter(([name]) => name !== 'events')
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

async function loggedRequestOf(
  context: CliContext,
  pipeline: string,
  logged: string,
  flags: Flags,
): Promise<unknown> {
  const { definition, config } = await readPipeline(context, flags, pipeline);
  const ledger = flags.ledger ?? (await settingsOf(context, flags)).ledgerDir;
  return await loggedBody(context, ledger, logged, definition, config);
}
