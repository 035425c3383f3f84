import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { printJson, settingsOf, styleOf, tellStrayErrors, type CliContext } from '../context.js';
import type { RankingAnswer, ScoreAnswer } from '../../pipeline/answer-types.js';
import { explanationText } from '../explanation-text.js';
import { UsageError } from '../failure.js';
import { InputError, jsonProblem } from '../input/rows.js';
import { loggedBody } from '../judge/logged-body.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import { readPipeline } from '../project-types.js';
import { addTargetFlags } from '../setting-flags.js';
import { renderTable } from '../table.js';

interface Flags extends TargetFlags {
  readonly logged?: string;
  readonly ledger?: string;
  readonly json?: boolean;
  readonly explain?: boolean;
}

export function rankCommand(context: CliContext): Command {
  const rank = new Command('rank')
    .description('send a request to a pipeline and print the answer')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/')
    .argument('[REQUEST.json]', 'file with the body of the request; - for standard input')
    .option('--logged <ID>', 'instead, send the logged request with this request_id again')
    .option('--ledger <DIR>', 'with --logged, the folder of the ledger [default: that of the project]')
    .option('--json', 'print the answer of the route as JSON')
    .option('--explain', 'explain the answer: print every value with its status, and what each step did')
    .action((pipeline: string, file: string | undefined, flags: Flags) =>
      printAnswer(context, pipeline, file, flags),
    );
  return addTargetFlags(rank);
}

async function printAnswer(
  context: CliContext,
  pipeline: string,
  file: string | undefined,
  flags: Flags,
): Promise<void> {
  const body = await bodyOf(context, pipeline, file, flags);
  tellStrayErrors(context, await settingsOf(context, flags));
  const target = await openTarget(context, flags, 'pipelines');
  try {
    if (flags.explain === true) {
      const explanation = await target.explain(pipeline, body);
      if (flags.json === true) printJson(context, explanation);
      else context.stdout.write(explanationText(explanation, styleOf(context, context.stdout).width));
      return;
    }
    const answer = await target.run(pipeline, body);
    if (flags.json === true) printJson(context, answer);
    else
      context.stdout.write(answer.ranked_candidates === undefined ? scoreText(answer) : rankingText(answer));
  } finally {
    await target.close();
  }
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

/** @throws UsageError unless there is either a file or a logged request */
async function bodyOf(
  context: CliContext,
  pipeline: string,
  file: string | undefined,
  flags: Flags,
): Promise<unknown> {
  const { logged } = flags;
  if (file !== undefined && logged === undefined && flags.ledger === undefined)
    return await readBody(context, file);
  if (file !== undefined || logged === undefined)
    throw new UsageError('rank needs either a file with the request, or --logged ID');
  const { definition, config } = await readPipeline(context, flags, pipeline);
  const ledger = flags.ledger ?? (await settingsOf(context, flags)).ledgerDir;
  return await loggedBody(context, ledger, logged, definition, config);
}

async function readBody(context: CliContext, file: string): Promise<unknown> {
  let content: string;
  try {
    content = file === '-' ? await text(context.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === 'ENOENT' ? 'the file does not exist' : (code ?? String(error));
    throw new InputError(`cannot read ${file}: ${reason}`, { cause: error });
  }
  try {
    return JSON.parse(content.replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    throw new InputError(`${file} is ${jsonProblem(error)}`, { cause: error });
  }
}
