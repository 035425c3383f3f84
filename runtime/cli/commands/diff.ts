import { Command, InvalidArgumentError, Option } from 'commander';
import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import { degradationText } from '../../request/pipeline/page/degraded.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { printJson, styleOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { openInput } from '../input/open-input.js';
import { compareExplained } from '../judge/compare-explained.js';
import { startProgress } from '../load/progress.js';
import { namedBy, openContestants, type Contestant } from '../judge/contestants.js';
import { diffPage } from '../judge/diff-page.js';
import { DiffCollector, diffJson, type DiffReport } from '../judge/diff-report.js';
import { diffText } from '../judge/diff-text.js';
import { explainWhole } from '../judge/explain-whole.js';
import { DEFAULT_LAST, readLoggedRequests } from '../judge/logged-requests.js';
import { writeOutput } from '../judge/output.js';
import { retried } from '../judge/run-whole.js';
import { wholeOption } from '../judge/options.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly requests?: string;
  readonly ledger?: string;
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
  try {
    const [first, second] = contestants.all;
    if (first === undefined || second === undefined) throw new Error('a pipeline was not opened');
    ({ report, unread } = await diffRequests(context, flags, first, second));
  } finally {
    await contestants.close();
  }
  if (flags.json === true) printJson(context, diffJson(report));
  else context.stdout.write(diffText(report, styleOf(context, context.stdout).width));
  if (flags.html !== undefined) await writeOutput(flags.html, diffPage(report));
  const failed = new Set(report.failed.map(({ line }) => line)).size;
  if (failed + unread > 0)
    throw new CommandFailure(
      [
        ...(failed === 0 ? [] : [`${failed} request${failed === 1 ? '' : 's'} failed`]),
        ...(unread === 0 ? [] : [`${unread} line${unread === 1 ? '' : 's'} cannot be read`]),
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
      : await requestsOfLedger(context, flags.ledger, flags.last, a);
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
  const unread = source.unread();
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
  /** Requests that could not be read. */
  unread(): number;
  close(): Promise<void>;
}

async function requestsOfFile({ stdin, stderr }: CliContext, file: string): Promise<RequestSource> {
  const input = await openInput(file, {
    stdin,
    columnTypes: () => Promise.resolve(new Map<string, never>()),
  });
  let unread = 0;
  return {
    total: input.totalBytes,
    async *requests() {
      for await (const { rows, bad } of input.chunks()) {
        for (const { line, problem } of bad) stderr.write(`${input.unit} ${line}: ${problem}\n`);
        unread += bad.length;
        yield* rows;
      }
    },
    done: () => input.bytesRead(),
    unread: () => unread,
    close: () => input.close(),
  };
}

async function requestsOfLedger(
  context: CliContext,
  ledger: string,
  last: number,
  pipeline: Contestant,
): Promise<RequestSource> {
  const logged = await readLoggedRequests(context, ledger, last, pipeline);
  let done = 0;
  return {
    total: logged.length,
    *requests() {
      for (const { body } of logged) yield { line: ++done, value: body };
    },
    done: () => done,
    unread: () => 0,
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
  const [first] = error.violations;
  const where = first === undefined ? '' : `; ${first.pointer || '(the body)'}: ${first.detail}`;
  return `${error.code}: ${error.message}${where}`;
}
