import { Command, InvalidArgumentError, Option } from 'commander';
import { counted } from '../../ground/core/count.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { namedBy, openContestants } from '../contestants.js';
import { diffRequests, type DiffFlags } from '../../learn/judge/run-diff.js';
import { diffTree } from '../../learn/report/diff-tree.js';
import type { CardsById } from '../../state/index/cards.js';
import { diffJson, listedCandidates, type DiffReport } from '../../learn/judge/diff-report.js';
import { reportText } from '../report/report.js';
import { DEFAULT_LAST } from '../../learn/judge/logged-requests.js';
import { writeReport } from '../report/write-report.js';
import { wholeOption } from '../../learn/judge/options.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags, DiffFlags {
  readonly html?: string;
  readonly json?: boolean;
}

export function diffCommand(context: CliContext): Command {
  const side = 'a pipeline of the project, a project folder, or git:REF';
  const command = new Command('diff')
    .description('compare how two pipelines rank the same requests')
    .argument('<A>', side)
    .argument('<B>', side)
    .option('--requests <FILE>', 'file with a request a line, as JSON; - for standard input')
    .option('--ledger <DIR>', 'take the requests to A from a ledger instead of a file')
    .option('--logged-by <NAME>', 'with --ledger: the pipeline whose requests are used, if not A')
    .addOption(wholeOption('--last <N>', 'how many requests of the ledger, the newest', DEFAULT_LAST, 1))
    .addOption(wholeOption('--depth <K>', 'depth of overlap@k', 10, 1))
    .addOption(
      new Option('--persistence <P>', 'p of rank-biased overlap: the probability to read on')
        .argParser(parseShare)
        .default(0.9),
    )
    .addOption(wholeOption('--top <N>', 'number of moves to list', 10))
    .option('--html <FILE>', 'write a page with plots: one file that loads nothing')
    .option('--json', 'print the result as JSON, with every request')
    .action((a: string, b: string, flags: Flags) => diffPipelines(context, a, b, flags));
  return addSettingFlags(command, ['project', 'store', 'dataDir']);
}

function parseShare(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value < 1) return value;
  throw new InvalidArgumentError('Expected a number between 0 and 1.');
}

async function diffPipelines(context: CliContext, a: string, b: string, flags: Flags): Promise<void> {
  if ((flags.requests === undefined) === (flags.ledger === undefined))
    throw new UsageError('name the requests with --requests FILE or with --ledger DIR');
  const contestants = await openContestants(context, flags, [await namedBy(a), await namedBy(b)]);
  let report: DiffReport;
  let unread: number;
  let cards: CardsById;
  try {
    const [first, second] = contestants.all;
    if (first === undefined || second === undefined) throw new Error('a pipeline was not opened');
    ({ report, unread } = await diffRequests(context, flags, first, second));
    cards = await first.project.cards.orNone(
      first.definition.candidateType.value,
      listedCandidates(report),
      (message) => context.stderr.write(`warning: ${message}\n`),
    );
  } finally {
    await contestants.close();
  }
  if (flags.json === true) printJson(context, diffJson(report, cards));
  else
    context.stdout.write(reportText(diffTree(report, cards).parts, styleOf(context, context.stdout).width));
  if (flags.html !== undefined) await writeReport(context, flags.html, diffTree(report, cards));
  const failed = new Set(report.failed.map(({ line }) => line)).size;
  if (failed + unread > 0)
    throw new CommandFailure(
      [
        ...(failed === 0 ? [] : [`${counted(failed, 'request')} failed`]),
        ...(unread === 0 ? [] : [`${counted(unread, 'line')} cannot be read`]),
      ].join(', '),
    );
}
