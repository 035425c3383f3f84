import { Command, InvalidArgumentError, Option } from 'commander';
import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import { counted } from '../../ground/core/count.js';
import { printable } from '../../ground/core/display-width.js';
import { degradationText } from '../../request/pipeline/page/degraded.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { openInput } from '../../project/rows/open-input.js';
import { compareExplained } from '../../learn/judge/compare-explained.js';
import { startProgress } from '../../ground/core/progress.js';
import type { Contestant } from '../../learn/judge/contestant.js';
import { namedBy, openContestants } from '../contestants.js';
import { diffTree } from '../report/diff-tree.js';
import type { CardsById } from '../../state/index/cards.js';
import { DiffCollector, diffJson, listedCandidates, type DiffReport } from '../../learn/judge/diff-report.js';
import { reportPage } from '../report/page.js';
import { reportText } from '../report/report.js';
import { explainWhole } from '../../learn/judge/explain-whole.js';
import { DEFAULT_LAST, findLoggedRequests, readLoggedRequests } from '../../learn/judge/logged-requests.js';
import { writeOutput } from '../report/output.js';
import { retried } from '../../learn/judge/run-whole.js';
import { wholeOption } from '../../learn/judge/options.js';
import { addSettingFlags } from '../setting-flags.js';

/** The lines that cannot be read and are listed. */
const MOST_UNREAD = 20;

interface Flags extends SettingFlags {
  readonly requests?: string;
  readonly ledger?: string;
  readonly loggedBy?: string;
  readonly last: number;
  readonly depth: number;
  readonly persistence: number;
  readonly top: number;
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
  if (flags.html !== undefined) await writeOutput(flags.html, reportPage(diffTree(report, cards)));
  const failed = new Set(report.failed.map(({ line }) => line)).size;
  if (failed + unread > 0)
    throw new CommandFailure(
      [
        ...(failed === 0 ? [] : [`${counted(failed, 'request')} failed`]),
        ...(unread === 0 ? [] : [`${counted(unread, 'line')} cannot be read`]),
      ].join(', '),
    );
}

async function diffRequests(
  context: CliContext,
  flags: Flags,
  a: Contestant,
  b: Contestant,
): Promise<{ readonly report: DiffReport; readonly unread: number }> {
  const collector = new DiffCollector(flags.top);
  const source =
    flags.ledger === undefined
      ? await requestsOfFile(context, flags.requests ?? '')
      : await requestsOfLedger(context, flags.ledger, flags, a);
  let compared = 0;
  const progress = startProgress(context.stderr, 'comparing', source.total, 'requests');
  try {
    for await (const { line, value } of source.requests()) {
      // The side that runs second finds warm caches, so the sides take turns.
      await diffRequest(collector, line, value, flags, a, b, compared % 2 === 0);
      compared += 1;
      progress.update(source.done(), compared);
    }
  } finally {
    progress.stop();
    await source.close();
  }
  for (const line of source.unread.slice(0, MOST_UNREAD)) context.stderr.write(`${printable(line)}\n`);
  const unread = source.unread.length;
  if (compared + unread === 0) throw new CommandFailure(`${flags.requests ?? ''} has no requests`);
  const { depth: k, persistence: p } = flags;
  return { report: collector.report({ a: a.label, b: b.label, k, p }), unread };
}

interface NumberedRequest {
  readonly line: number;
  readonly value: JsonObject;
}

/** Where the requests come from. */
interface RequestSource {
  /** The size of all, in the unit of `done`; undefined if it is not known. */
  readonly total: number | undefined;
  /** Bodies, with their 1-based numbers. */
  requests(): AsyncIterable<NumberedRequest> | Iterable<NumberedRequest>;
  /** How much was read. */
  done(): number;
  /** Which requests could not be read, and why. */
  readonly unread: readonly string[];
  close(): Promise<void>;
}

async function requestsOfFile({ stdin }: CliContext, file: string): Promise<RequestSource> {
  const input = await openInput(file, {
    stdin,
    columnTypes: () => Promise.resolve(new Map<string, never>()),
  });
  const unread: string[] = [];
  return {
    total: input.totalBytes,
    async *requests() {
      for await (const { rows, bad } of input.chunks()) {
        unread.push(...bad.map(({ line, problem }) => `${input.unit} ${line}: ${problem}`));
        yield* rows;
      }
    },
    done: () => input.bytesRead(),
    unread,
    close: () => input.close(),
  };
}

async function requestsOfLedger(
  context: CliContext,
  ledger: string,
  { last, loggedBy }: Flags,
  pipeline: Contestant,
): Promise<RequestSource> {
  const found = await findLoggedRequests(context, ledger, last, pipeline, loggedBy);
  let done = 0;
  return {
    total: found.length,
    async *requests() {
      for await (const [at, { body }] of readLoggedRequests(found, pipeline)) {
        done += 1;
        yield { line: at + 1, value: body };
      }
    },
    done: () => done,
    unread: [],
    close: () => Promise.resolve(),
  };
}

async function diffRequest(
  collector: DiffCollector,
  line: number,
  body: JsonObject,
  { depth: k, persistence: p }: Flags,
  a: Contestant,
  b: Contestant,
  isAFirst: boolean,
): Promise<void> {
  const whole = withoutPaging(body);
  const requestId = `diff-${line}`;
  const sides = [
    ['a', a],
    ['b', b],
  ] as const;
  const attempt = async <T>(side: 'a' | 'b', work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof MillraceError || error instanceof CommandFailure)) throw error;
      collector.fail({ line, side: side === 'a' ? 'A' : 'B', message: messageOf(error) });
      return undefined;
    }
  };
  const explainedA = await attempt('a', () => explainWhole(a, whole, requestId));
  const explainedB = await attempt('b', () => explainWhole(b, whole, requestId));
  if (explainedA === undefined || explainedB === undefined) return;
  const timed: { readonly side: 'a' | 'b'; readonly ms: number; readonly degraded: readonly string[] }[] = [];
  for (const [side, contestant] of isAFirst ? sides : sides.toReversed()) {
    const run = await attempt(side, () => timedRun(contestant, body, requestId));
    if (run !== undefined) timed.push({ side, ...run });
  }
  if (timed.length < sides.length) return;
  for (const { side, ms, degraded } of timed) collector.addSide(side, ms, degraded);
  collector.add(line, compareExplained(explainedA, explainedB, { k, p }));
}

/** Runs the request as it is, without an explanation. */
async function timedRun(
  { pipeline }: Contestant,
  body: JsonObject,
  requestId: string,
): Promise<{ readonly ms: number; readonly degraded: readonly string[] }> {
  return await retried(async (context) => {
    const start = performance.now();
    const { report } = await pipeline.run(body, context);
    return { ms: performance.now() - start, degraded: report.degraded.map(degradationText) };
  }, requestId);
}

const PAGING = new Set([
  'user_page',
  'user_page_size',
  'candidate_page',
  'candidate_page_size',
  'include_events',
]);

/** The whole rankings are compared, whatever page the request asks for. */
function withoutPaging(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !PAGING.has(name)));
}

function messageOf(error: MillraceError | CommandFailure): string {
  if (!(error instanceof MillraceError)) return error.message;
  const [first, second] = error.violations;
  // The message holds a violation that is the only one.
  const where = second && first ? `; ${first.pointer || '(the body)'}: ${first.detail}` : '';
  return `${error.code}: ${error.message}${where}`;
}
