import { Command, Option } from 'commander';
import { printable } from '../../ground/core/display-width.js';
import { MillraceError } from '../../ground/api/errors.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import type { PipelineAnswer, RankingAnswer, ScoreAnswer } from '../../request/pipeline/answer-types.js';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { Cards, NO_CARDS, withCard, type CardsById } from '../../state/index/cards.js';
import { rankingText } from '../report/card-text.js';
import type { ExplainOptions } from '../../request/pipeline/types.js';
import { explanationText } from '../report/explanation-text.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { loggedBody } from '../../learn/judge/logged-body.js';
import { requestShape } from '../../learn/judge/request-shape.js';
import { wholeOption } from '../../learn/judge/options.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import type { DataTarget } from '../load/target.js';
import { readPipeline } from '../project-types.js';
import { findJudgedQuery, rankJudgedQuery } from '../rank/judged-query.js';
import { judgedJson, judgedText } from '../report/judged-text.js';
import { readRequests, type SourcedRequest } from '../rank/read-requests.js';
import { reportError } from '../report-error.js';
import { addTargetFlags, timeFlag } from '../setting-flags.js';
import { renderTable } from '../report/table.js';

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
  readonly contributions?: boolean;
  readonly compare?: string;
  readonly with?: string;
  readonly lift?: string;
  readonly to?: number;
  readonly why?: string;
}

export function rankCommand(context: CliContext): Command {
  const rank = new Command('rank')
    .description('send requests to a pipeline and print the answers')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/')
    .argument('[REQUEST.json...]', 'files with bodies: JSON, a list, or JSON lines; - for standard input')
    .option('--all <WHERE>', 'instead, rank the entities of the index that meet a condition; true for all')
    .option(
      '--query <TEXT>',
      'with --all, the query; alone, rank what the retrievers of the pipeline find for it',
    )
    .option('--judged <QUERY>', 'instead, rank the judged candidates of a query')
    .option('--judgments <FILE>', 'with --judged, the judgments [default: the files of judgments/]')
    .option('--query-field <FIELD>', 'with --judged or --query, the field of the request that gets it')
    .addOption(wholeOption('--most <N>', 'with --judged, the most candidates to print', 10))
    .option('--logged <ID>', 'instead, send the logged request with this request_id again')
    .option('--ledger <DIR>', 'with --logged, the folder of the ledger [default: that of the project]')
    .addOption(
      new Option('--at <TIME>', 'a preview: apply the dated rules of curation/ as at this time').argParser(
        timeFlag,
      ),
    )
    .option(
      '--json',
      'print the answer as JSON, with a card of each candidate; for several requests, one a line',
    )
    .option('--explain', 'explain the answer: print every value with its status, and what each step did')
    .option('--contributions', 'with --explain, also tell how each score came to be')
    .option(
      '--compare <ID>',
      'with --explain and --with, tell why this candidate has another place than the other',
    )
    .option('--with <ID>', 'the other candidate')
    .option('--lift <ID>', 'with --explain and --to, tell which changes of its values lift this candidate')
    .addOption(wholeOption('--to <PLACE>', 'the place that it should have, from 1', undefined, 1))
    .option('--why <ID>', 'explain the answer, and why this candidate is where it is, or not there')
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
    const call = { context, target, pipeline, flags, cardsOf: cardReader(context, target, pipeline, flags) };
    if (only !== undefined && more.length === 0) await printAnswer(call, only.body);
    else await printAnswers(call, requests);
  } finally {
    await target.close();
  }
}

/** @throws UsageError unless the command line says in one way what to send */
function checkSources(
  files: readonly string[],
  {
    logged,
    ledger,
    judged,
    judgments,
    all,
    query,
    at,
    why,
    explain,
    contributions,
    compare,
    with: other,
    lift,
    to,
  }: Flags,
): void {
  const ways = [files.length > 0, logged !== undefined, judged !== undefined, (all ?? query) !== undefined];
  if (ways.filter(Boolean).length !== 1 || (ledger !== undefined && logged === undefined))
    throw new UsageError(
      'rank needs either files with requests, or --query TEXT, --all WHERE, --judged QUERY or --logged ID',
    );
  if (judgments !== undefined && judged === undefined)
    throw new UsageError('--judgments needs --judged QUERY');
  if ((compare === undefined) !== (other === undefined))
    throw new UsageError('--compare ID and --with ID need each other');
  if ((lift === undefined) !== (to === undefined))
    throw new UsageError('--lift ID and --to PLACE need each other');
  if (
    (contributions === true || (compare ?? lift) !== undefined) &&
    ((explain !== true && why === undefined) || judged !== undefined)
  )
    throw new UsageError(
      '--contributions, --compare and --lift need --explain, and go with requests, not with --judged',
    );
  if (at !== undefined && judged !== undefined)
    throw new UsageError('--at goes with requests, --query, --all or --logged, not with --judged');
  if (why !== undefined && judged !== undefined)
    throw new UsageError('--why goes with requests, --query, --all or --logged, not with --judged');
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
  // null: the retrievers find them.
  const candidates = all === undefined ? null : { from: 'index', where: all };
  if (query === undefined)
    return all === undefined
      ? await readRequests(context, files)
      : [{ source: '--all', body: { candidates } }];
  const { definition, config } = await readPipeline(context, flags, pipeline);
  if (all === undefined && definition.retrieve === undefined)
    throw new UsageError(`--query needs --all WHERE: the pipeline ${pipeline} has no \`retrieve:\``);
  const shape = requestShape({ definition, project: { config } }, queryField);
  const body = { ...shape.bodyOf({ query, candidates: [], context: {} }, []), candidates };
  return [{ source: '--query', body }];
}

function explainOptions({ at, why, contributions, compare, with: other, lift, to }: Flags): ExplainOptions {
  return {
    ...(at === undefined ? {} : { rulesAt: at }),
    ...(why === undefined ? {} : { why }),
    ...(contributions === undefined ? {} : { contributions }),
    ...(compare === undefined || other === undefined ? {} : { compare: [compare, other] }),
    ...(lift === undefined || to === undefined ? {} : { lift: { id: lift, to } }),
  };
}

/** What the requests of a command are sent to, and how their answers are printed. */
interface Call {
  readonly context: CliContext;
  readonly target: DataTarget;
  readonly pipeline: string;
  readonly flags: Flags;
  readonly cardsOf: CardReader;
}

async function printAnswer(call: Call, body: unknown): Promise<void> {
  const { context, target, pipeline, flags, cardsOf } = call;
  if (flags.explain === true || flags.why !== undefined) {
    const explanation = await target.explain(pipeline, body, explainOptions(flags));
    if (flags.json === true) printJson(context, explanation);
    else context.stdout.write(explanationText(explanation, styleOf(context, context.stdout).width));
    return;
  }
  const answer = await answerOf(call, body);
  if (flags.json === true) printJson(context, await withCards(answer, cardsOf));
  else if (answer.ranked_candidates === undefined) context.stdout.write(scoreText(answer));
  else {
    const { ranked_candidates: ranked } = answer;
    context.stdout.write(rankingText(ranked, await cardsOf(ranked), styleOf(context, context.stdout).width));
  }
}

type CardReader = (ranked: RankingAnswer['ranked_candidates']) => Promise<CardsById>;

/**
 * Makes cards by the `display:` of the project. A service may rank for a project that is not here, or for a key that cannot
 * read entities: then there are none.
 */
function cardReader(context: CliContext, target: DataTarget, pipeline: string, flags: Flags): CardReader {
  let opened: Promise<readonly [Cards, string]> | undefined;
  const open = async (): Promise<readonly [Cards, string]> => {
    const { definition, config } = await readPipeline(context, flags, pipeline);
    const { imageHosts } = await settingsOf(context, flags);
    const read = (type: string, ids: readonly string[]): ReturnType<DataTarget['getEntities']> =>
      target.getEntities(type, ids);
    return [new Cards(read, config.entities, imageHosts), definition.candidateType.value];
  };
  return async (ranked) => {
    try {
      const [cards, type] = await (opened ??= open());
      return await cards.of(
        type,
        ranked.map(({ candidate_id: id }) => id),
      );
    } catch (error) {
      const isExpected = error instanceof MillraceError || error instanceof ProjectInvalidError;
      if (flags.url !== undefined && isExpected) return NO_CARDS;
      throw error;
    }
  };
}

async function withCards(answer: PipelineAnswer, cardsOf: CardReader): Promise<PipelineAnswer> {
  const { ranked_candidates: ranked } = answer;
  if (ranked === undefined) return answer;
  const cards = await cardsOf(ranked);
  return { ...answer, ranked_candidates: ranked.map((one) => withCard(one, one.candidate_id, cards)) };
}

/** The answer of the route; in a preview, the answer that an explanation has, so that nothing is recorded. */
async function answerOf({ context, target, pipeline, flags }: Call, body: unknown): Promise<PipelineAnswer> {
  if (flags.at !== undefined) return (await target.explain(pipeline, body, explainOptions(flags))).answer;
  const { answer, misspelt } = await target.run(pipeline, body);
  for (const one of misspelt === '' ? [] : misspelt.split(', ')) {
    const [field = '', near = ''] = one.split(';near=');
    context.stderr.write(
      `warning: nothing declares the field ${printable(field)}, so it is ignored; did you mean ${printable(near)}?\n`,
    );
  }
  return answer;
}

/** A request that fails does not stop the others. @throws CommandFailure if one failed */
async function printAnswers(call: Call, requests: readonly SourcedRequest[]): Promise<void> {
  const { context, target, pipeline, flags, cardsOf } = call;
  let failed = 0;
  for (const { source, body } of requests) {
    try {
      if (flags.json === true) {
        const value = await (flags.explain === true || flags.why !== undefined
          ? target.explain(pipeline, body, explainOptions(flags))
          : withCards(await answerOf(call, body), cardsOf));
        context.stdout.write(`${JSON.stringify(value)}\n`);
      } else {
        context.stdout.write(`${source}\n`);
        await printAnswer(call, body);
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

function scoreText(answer: ScoreAnswer): string {
  return renderTable(
    { name: 'left', value: 60 },
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
