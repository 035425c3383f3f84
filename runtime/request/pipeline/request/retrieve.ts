import type { Column } from '../../../ground/api/columns.js';
import { MillraceError } from '../../../ground/api/errors.js';
import type { Found, RetrieverInput } from '../../../ground/api/retriever.js';
import { isKnown, Status } from '../../../ground/api/status.js';
import { Deadline } from '../../../ground/core/deadline.js';
import { idProblem } from '../../../ground/core/ids.js';
import { lossOf } from '../../../ground/core/loss-of.js';
import { copyColumn } from '../../../language/frame/copy-column.js';
import type { Frame } from '../../../language/frame/frame.js';
import { runKernels } from '../../../language/expression/run-kernels.js';
import { PLACE } from '../../compile/check-component.js';
import type { Plan, PlannedRetriever, Retrieval } from '../../compile/plan.js';
import { bestRows } from '../../ordering/best-rows.js';
import { watched } from '../components/run-components.js';
import { traceStep } from '../components/trace-step.js';
import { fetchFeatures, unreadFeatures } from '../features/fetch-features.js';
import { hydrate } from '../hydrate/hydrate.js';
import { readsOf } from '../hydrate/read-services.js';
import { StoreLoss } from '../hydrate/store-loss.js';
import type { OpenedRequest, PlanRun } from '../plan-run.js';
import type {
  Retrieved,
  RetrievedColumn,
  RetrievalReport,
  RetrieverOutcome,
  RetrieverReport,
} from './retrieval-report.js';

const MOST_CUT_IDS = 100;

/** Of reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009. */
const RANK_CONSTANT = 60;

/** What one retriever answered, checked. */
interface Answer {
  readonly retriever: PlannedRetriever;
  readonly report: RetrieverReport;
  /** Different ids, best first, and the index of each in the columns. */
  readonly ids: readonly string[];
  readonly at: readonly number[];
  readonly columns: Found['columns'];
}

/**
 * Asks all retrievers at the same time, and merges what they found.
 * @param run of the plan of the retrieval
 * @param opened the request without candidates
 * @throws MillraceError retrieval_failed if no retriever answered; deadline_exceeded
 */
export async function retrieve(
  run: PlanRun,
  opened: OpenedRequest,
  retrieval: Retrieval,
): Promise<Retrieved> {
  const { frame } = opened;
  const { services, stages } = run;
  await readValues(run, opened);
  const answers = await askAll(run, frame, retrieval);
  stages.deadline.check();
  const reports = answers.map(({ report }) => report);
  services.onRetrieved?.(reports);
  const isMissing = ({ outcome }: RetrieverReport): boolean => outcome === 'late' || outcome === 'failed';
  if (reports.some(isMissing) && reports.every((one) => isMissing(one) || one.outcome === 'not_asked')) {
    const why = reports.map(({ as, outcome }) => `${as}: ${outcome}`).join(', ');
    throw new MillraceError('retrieval_failed', `no retriever answered (${why})`);
  }
  const merged = await merge(answers, frame, retrieval, run.asked.context.why, () => stages.deadline.check());
  // A retriever that did not answer may still read the frame.
  if (!reports.some(isMissing)) retrieval.plan.frames.release(frame);
  return merged;
}

/** Reads what the options name of the index, as for a ranking. */
export async function readValues(run: PlanRun, { frame, request }: OpenedRequest): Promise<void> {
  const { plan, services, stages, asked } = run;
  const loss = new StoreLoss(plan, stages.deadline);
  const reads = readsOf(services, stages, loss.time, asked.context.span);
  try {
    const pending = await loss.survive(() => hydrate(plan, frame, request, reads));
    const read = pending && (await loss.survive(() => fetchFeatures(plan, frame, pending, reads)));
    if (read === undefined) unreadFeatures(plan, frame);
  } finally {
    reads.resident?.end();
    loss.end();
  }
}

async function askAll(run: PlanRun, frame: Frame, { retrievers, most }: Retrieval): Promise<Answer[]> {
  const { deadline } = run.stages;
  const check = (): void => deadline.check();
  const asking: Promise<Answer>[] = [];
  for (const retriever of retrievers) {
    const { prepare, inputs, when } = retriever.step;
    const preparing = runKernels(prepare, frame, check);
    if (preparing !== undefined) await preparing;
    if (when !== undefined && frame.number(when.slot).values[0] !== 1) {
      asking.push(Promise.resolve(nothing(retriever, 'not_asked', 0)));
      continue;
    }
    const computing = runKernels(inputs, frame, check);
    if (computing !== undefined) await computing;
    asking.push(ask(retriever, run, frame, most));
  }
  return Promise.all(asking);
}

/** Asks one retriever. It never rejects. */
async function ask(retriever: PlannedRetriever, run: PlanRun, frame: Frame, most: number): Promise<Answer> {
  const { step, component, timeoutMs } = retriever;
  const { stages, services } = run;
  const began = performance.now();
  const deadline = new Deadline(timeoutMs, { parent: stages.deadline });
  const input = (trace: RetrieverInput['trace']): RetrieverInput => ({
    ...{ now: frame.now, signal: deadline.signal, trace, most, timeoutMs },
    column: ({ slot }) => {
      const column = frame.columns[slot] as Column;
      return (step.isShipped ? column : copyColumn(column, 1, (like) => like.slice())) as never;
    },
  });
  const work = async (trace: RetrieverInput['trace']): Promise<Answer & { readonly outcome: string }> => {
    const found = watched(step, services, () => component.retrieve(input(trace)));
    const answer = checked(retriever, await deadline.within(Promise.resolve(found)), most, began);
    return { ...answer, outcome: answer.report.outcome };
  };
  try {
    return await (stages.span === undefined ? work(undefined) : traceStep(stages.span, step, work));
  } catch (error) {
    const { outcome, reason } = lossOf(error, timeoutMs);
    return nothing(retriever, outcome, performance.now() - began, reason);
  } finally {
    deadline.end();
  }
}

function nothing(
  retriever: PlannedRetriever,
  outcome: RetrieverOutcome,
  ms: number,
  reason?: string,
): Answer {
  const report = {
    as: retriever.step.as,
    outcome,
    found: 0,
    ms,
    ...(reason === undefined ? {} : { reason }),
  };
  return { retriever, report, ids: [], at: [], columns: {} };
}

/** @throws Error that describes what is wrong with an answer. Ids that are not valid are left out and counted in the report */
function checked(retriever: PlannedRetriever, found: Found, most: number, began: number): Answer {
  const { step, component } = retriever;
  const { ids, columns } = found as { readonly [Name in keyof Found]: unknown };
  if (!Array.isArray(ids) || typeof columns !== 'object' || columns === null)
    throw new Error('`retrieve` returned no candidates: a retriever returns { ids, columns }');
  for (const output of Object.keys(component.outputs)) {
    if (!Object.hasOwn(columns, output)) continue;
    const values: unknown = (columns as Found['columns'])[output];
    if (!(values instanceof Float64Array) || values.length < ids.length)
      throw new Error(`the column \`${output}\` is no Float64Array with a number for each id`);
  }
  const distinct = new Map<string, number>();
  let wrong = 0;
  for (let at = 0; at < ids.length && distinct.size < most; at++) {
    const id: unknown = ids[at];
    if (typeof id !== 'string' || idProblem(id) !== undefined) wrong++;
    else if (!distinct.has(id)) distinct.set(id, at);
  }
  const reason = found.problem ?? (wrong === 0 ? undefined : `${wrong} of its ids are not valid`);
  return {
    retriever,
    report: {
      as: step.as,
      outcome: reason === undefined ? 'found' : 'partial',
      found: distinct.size,
      ms: performance.now() - began,
      ...(reason === undefined ? {} : { reason }),
    },
    ids: [...distinct.keys()],
    at: [...distinct.values()],
    columns: found.columns,
  };
}

/** @param sought the id of a candidate that an explanation asks for */
async function merge(
  answers: readonly Answer[],
  frame: Frame,
  { fuse, most }: Retrieval,
  sought: string | undefined,
  check: () => void,
): Promise<Retrieved> {
  const rowOf = new Map<string, number>();
  /** By answer: the row of each id. */
  const rows = answers.map(({ ids }) =>
    ids.map((id) => {
      const row = rowOf.get(id) ?? rowOf.size;
      rowOf.set(id, row);
      return row;
    }),
  );
  const count = rowOf.size;
  const all = answers.flatMap((answer, i) => columnsOf(answer, rows[i] ?? [], count));
  const scores = new Float64Array(count);
  const every = new Int32Array(count).map((_, row) => row);
  if (fuse === 'rrf') {
    for (const its of rows)
      its.forEach((row, at) => (scores[row] = (scores[row] ?? 0) + 1 / (RANK_CONSTANT + at + 1)));
  } else if (fuse !== 'first') {
    const part = fuse.frames.acquire(count, frame.now, fuse.kept);
    for (const slot of fuse.shared) part.columns[slot] = frame.columns[slot] as Column;
    for (const { slot, values, status } of all) writeColumn(part, slot, { values, status }, every);
    const computing = runKernels(fuse.kernels, part, check);
    if (computing !== undefined) await computing;
    const { values, status, stride } = part.number(fuse.slot);
    for (let row = 0; row < count; row++)
      scores[row] = isKnown(status[row * stride] ?? 0) ? (values[row * stride] ?? 0) : -Infinity;
    fuse.frames.release(part);
  }
  const order = bestRows(every, scores, new Int32Array(count), count);
  const names = [...rowOf.keys()];
  const idsOf = (from: number, to: number): string[] => {
    const ids: string[] = [];
    for (const row of order.subarray(from, to)) ids.push(names[row] ?? '');
    return ids;
  };
  return {
    ids: idsOf(0, most),
    order: order.subarray(0, most),
    columns: new Map(all.map((column) => [column.name, column])),
    report: {
      retrievers: answers.map(({ report }) => report),
      found: count,
      cut: { count: Math.max(0, count - most), ids: idsOf(most, most + MOST_CUT_IDS) },
      ...(sought === undefined
        ? {}
        : { sought: placesOf(sought, answers, order.indexOf(rowOf.get(sought) ?? -1)) }),
    },
  };
}

/** @param at the index in the merged list; -1 if it is not there */
function placesOf(
  sought: string,
  answers: readonly Answer[],
  at: number,
): NonNullable<RetrievalReport['sought']> {
  const places = answers.flatMap(({ report, ids }): [string, number][] => {
    const place = ids.indexOf(sought) + 1;
    return place === 0 ? [] : [[report.as, place]];
  });
  return { places: Object.fromEntries(places), ...(at < 0 ? {} : { merged: at + 1 }) };
}

interface MergedColumn extends RetrievedColumn {
  readonly name: string;
  /** In a frame of the retrieval. */
  readonly slot: number;
}

/**
 * The outputs of a retriever for all candidates.
 * @param rows of its candidates
 * @param count of all candidates
 */
function columnsOf(
  { retriever, report, at, columns }: Answer,
  rows: readonly number[],
  count: number,
): MergedColumn[] {
  const { step } = retriever;
  const isMissing = report.outcome === 'late' || report.outcome === 'failed';
  return Array.from(step.outputs, ([output, slot]): MergedColumn => {
    const values = new Float64Array(count).fill(NaN);
    const given = Object.hasOwn(columns, output) ? columns[output] : undefined;
    rows.forEach((row, place) => {
      values[row] = output === PLACE ? place + 1 : (given?.[at[place] ?? 0] ?? NaN);
    });
    return { name: `${step.as}:${output}`, slot, values, status: isMissing ? Status.failed : Status.absent };
  });
}

/** @param order by row of the frame: the row of the values */
function writeColumn(
  frame: Frame,
  slot: number,
  { values, status: unknown }: RetrievedColumn,
  order: Int32Array,
): void {
  const column = frame.number(slot);
  for (let row = 0; row < order.length; row++) {
    const value = values[order[row] ?? 0] ?? NaN;
    const isFinite = Number.isFinite(value);
    column.values[row] = isFinite ? value : NaN;
    column.status[row] = isFinite ? Status.present : unknown;
  }
}

/** Writes the outputs of retrievers into the frame of a ranking. */
export function fillRetrieved({ retrieval }: Plan, frame: Frame, { columns, order }: Retrieved): void {
  for (const { step, outputs } of retrieval?.retrievers ?? [])
    for (const [output, slot] of outputs) {
      const from = columns.get(`${step.as}:${output}`);
      if (from !== undefined) writeColumn(frame, slot, from, order);
    }
}
