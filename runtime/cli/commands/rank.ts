import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { printJson, styleOf, type CliContext } from '../context.js';
import { explanationText } from '../explanation-text.js';
import { InputError, jsonProblem } from '../input/rows.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import { addTargetFlags } from '../setting-flags.js';
import { renderTable } from '../table.js';

type Flags = TargetFlags & { readonly json?: boolean; readonly explain?: boolean };

export function rankCommand(context: CliContext): Command {
  const rank = new Command('rank')
    .description('send a ranking request and print the answered page')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/')
    .argument('<REQUEST.json>', 'file that holds the body of the request; - for standard input')
    .option('--json', 'print the answer as the route gives it')
    .option('--explain', 'print why: every value with its status, and what each step did')
    .action((pipeline: string, file: string, flags: Flags) => printRanking(context, pipeline, file, flags));
  return addTargetFlags(rank);
}

async function printRanking(
  context: CliContext,
  pipeline: string,
  file: string,
  flags: Flags,
): Promise<void> {
  const body = await readBody(context, file);
  const target = await openTarget(context, flags);
  try {
    if (flags.explain === true) {
      const explanation = await target.explain(pipeline, body);
      if (flags.json === true) printJson(context, explanation);
      else context.stdout.write(explanationText(explanation, styleOf(context, context.stdout).width));
      return;
    }
    const answer = await target.rank(pipeline, body);
    if (flags.json === true) printJson(context, answer);
    else
      context.stdout.write(
        renderTable(
          [
            { title: 'place', align: 'right' },
            { title: 'candidate_id', max: 50 },
            { title: 'ranked_score', align: 'right' },
          ],
          answer.ranked_candidates.map((ranked, at) => [
            String(at + 1),
            ranked.candidate_id,
            ranked.ranked_score.toFixed(6),
          ]),
        ),
      );
  } finally {
    await target.close();
  }
}

async function readBody(context: CliContext, file: string): Promise<unknown> {
  let content: string;
  try {
    content = file === '-' ? await text(context.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === 'ENOENT' ? 'no such file' : (code ?? String(error));
    throw new InputError(`cannot read ${file}: ${reason}`, { cause: error });
  }
  try {
    return JSON.parse(content.replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    throw new InputError(`${file} is ${jsonProblem(error)}`, { cause: error });
  }
}
