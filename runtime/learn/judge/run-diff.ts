import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { Console } from '../../ground/core/console.js';
import { printable } from '../../ground/core/display-width.js';
import { startProgress } from '../../ground/core/progress.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { openInput } from '../../project/rows/open-input.js';
import { degradationText } from '../../request/pipeline/page/degraded.js';
import { compareExplained } from './compare-explained.js';
import type { Contestant } from './contestant.js';
import { DiffCollector, type DiffReport } from './diff-report.js';
import { explainWhole } from './explain-whole.js';
import { findLoggedRequests, readLoggedRequests } from './logged-requests.js';
import { retried } from './run-whole.js';

/** The lines that cannot be read and are listed. */
const MOST_UNREAD = 20;
/** The longest text that stands for a request. */
const LONGEST_QUERY = 80;

/** What the user says about a comparison. */
export interface DiffFlags {
  /** A file of requests. */
  readonly requests?: string;
  /** Requests that are given as they are, instead of a file. */
  readonly bodies?: readonly JsonObject[];
  readonly ledger?: string;
  readonly loggedBy?: string;
  readonly last: number;
  readonly depth: number;
  readonly persistence: number;
  readonly top: number;
}

/** Compares how two pipelines rank the same requests. `unread`: the lines that cannot be read. @throws CommandFailure */
export async function diffRequests(
  context: Console,
  flags: DiffFlags,
  a: Contestant,
  b: Contestant,
): Promise<{ readonly report: DiffReport; readonly unread: number }> {
  const collector = new DiffCollector(flags.top);
  const source =
    flags.bodies !== undefined
      ? requestsGiven(flags.bodies)
      : flags.ledger === undefined
        ? await requestsOfFile(context, flags.requests ?? '')
        : await requestsOfLedger(context, flags.ledger, flags, a);
  let compared = 0;
  const progress = startProgress(context.stderr, 'comparing', source.total, 'requests');
  try {
    for await (const { line, value } of source.requests()) {
      // The side that runs second finds warm caches, so the sides take turns.
      await diffRequest(collector, { line, value }, flags, [a, b], compared % 2 === 0);
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

function requestsGiven(bodies: readonly JsonObject[]): RequestSource {
  let done = 0;
  return {
    total: bodies.length,
    *requests() {
      for (const value of bodies) yield { line: ++done, value };
    },
    done: () => done,
    unread: [],
    close: () => Promise.resolve(),
  };
}

async function requestsOfFile({ stdin }: Console, file: string): Promise<RequestSource> {
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
  context: Console,
  ledger: string,
  { last, loggedBy }: DiffFlags,
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
  { line, value: body }: NumberedRequest,
  { depth: k, persistence: p }: DiffFlags,
  [a, b]: readonly [Contestant, Contestant],
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
  collector.add(line, queryOf(body), compareExplained(explainedA, explainedB, { k, p }));
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

/** The texts of a request that are no candidates, such as what was searched. */
function queryOf(body: JsonObject): string {
  const fields = Object.entries(body).filter(([name]) => name !== 'candidates');
  const texts = fields.flatMap(([, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.values(value) : [value],
  );
  const text = texts.filter((one) => typeof one === 'string').join(', ');
  return text.length > LONGEST_QUERY ? `${text.slice(0, LONGEST_QUERY).toWellFormed()}…` : text;
}

function messageOf(error: MillraceError | CommandFailure): string {
  if (!(error instanceof MillraceError)) return error.message;
  const [first, second] = error.violations;
  // The message holds a violation that is the only one.
  const where = second && first ? `; ${first.pointer || '(the body)'}: ${first.detail}` : '';
  return `${error.code}: ${error.message}${where}`;
}
