import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { Plan } from '../compile/plan.js';
import type { Deadline } from '../../ground/core/deadline.js';
import { PLAIN_IDS, type IdHasher } from '../../ground/core/id-hasher.js';
import { inTurns, soon } from '../../ground/core/pieces.js';
import type { Usage } from '../../ground/core/usage.js';
import type { SharedRun } from '../experiments/shared-run.js';
import { refuseArms, type Choice, type Rival } from '../experiments/live-experiments.js';
import type { ResidentTables } from '../resident/resident-tables.js';
import type { LayoutRegistry } from '../../state/store/layout-registry.js';
import type { Store } from '../../state/store/store.js';
import { TracedStore } from '../../state/store/traced-store.js';
import type { PipelineAnswer } from './answer-types.js';
import { releaseFrame } from './components/release-frame.js';
import { saltedDraws } from './components/draws.js';
import { runComponents, type RankedCandidates, type StepServices } from './components/run-components.js';
import type { StepHandlers } from './components/step-handlers.js';
import { runServed } from './components/run-served.js';
import { traceOf } from './components/trace.js';
import { explain, type FinishedRun } from './explain/explain.js';
import type { Explanation } from './explain/explanation.js';
import { unranked } from './components/unranked.js';
import { fetchFeatures, unreadFeatures } from './features/fetch-features.js';
import { BatchRead } from './hydrate/batch-read.js';
import type { Frame } from '../../language/frame/frame.js';
import { mixedRun, pageTeams } from './interleave/mixed-run.js';
import { runInterleaved, type InterleavedCandidates, type SecondArm } from './interleave/run-interleaved.js';
import { secondArm } from './interleave/second-arm.js';
import { hydrate } from './hydrate/hydrate.js';
import type { ReadServices } from './hydrate/read-services.js';
import { ResidentSession } from './hydrate/resident-session.js';
import { StoreLoss } from './hydrate/store-loss.js';
import type { SourceReaders } from './hydrate/source-cells.js';
import { answerPage } from './page/answer-page.js';
import { leaveRecord } from './log/leave-record.js';
import type { LoggedRun, RankingLog } from './log/ranking-log.js';
import { findInIndex, wantedFromIndex, type CandidateFilters } from './request/index-candidates.js';
import { pageStart } from './request/paging.js';
import type { MisspeltFields } from './request/misspelt-fields.js';
import { openRequest, setParams, type OpenedRequest } from './request/open-request.js';
import { reportOf } from './run-report.js';
import { StageRunner } from './stage-runner.js';
import type { RequestContext, RunReport } from './types.js';

export interface PipelineServices extends StepHandlers {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Undefined if nothing is kept in process. */
  readonly resident?: ResidentTables;
  /** Readers of the plan's features outside the store (readersOf). */
  readonly readers?: SourceReaders;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** For requests whose candidates come from the index; undefined if there can be none. */
  readonly index?: { readonly filters: CandidateFilters; readonly most: number };
  /** How long feedback events count, in milliseconds; by default without end. */
  readonly historyRetention?: number;
  /** By code: the number of a kind of feedback in the plan; by default its code. */
  readonly eventNumbers?: Uint8Array | undefined;
  /** Replaces ids in events; by default it replaces none. */
  readonly hasher?: IdHasher;
  /** The secret of the rule `explore`; without it, nothing is drawn. */
  readonly exploreSalt?: string;
  /** Where the requests are recorded; by default nowhere. */
  readonly log?: RankingLog;
  /** The experiments of the pipeline; undefined if it has none. */
  readonly experiments?: PipelineExperiments | undefined;
  /** Finds misspelt fields of bodies; by default they are only counted. */
  readonly misspelt?: MisspeltFields;
  /** Counts requests, and the work that they leave behind. */
  readonly usage?: Usage;
  /** Sees an explained request before its frame is released, instead of an explanation. */
  readonly observe?: (run: FinishedRun) => void;
}

/** The experiments of a mounted pipeline. */
export interface PipelineExperiments {
  choose(ids: ReadonlyMap<string, string>, now: number, context: RequestContext): Choice | undefined;
  /** The plan and the services of a pipeline that an arm names, and what it shares with the pipeline that is called. */
  arm(pipeline: string): {
    readonly plan: Plan;
    readonly services: PipelineServices;
    readonly shared: SharedRun;
  };
}

export interface PipelineRun {
  readonly answer: PipelineAnswer;
  readonly report: RunReport;
  /** Undefined unless requested. */
  readonly explanation: Explanation | undefined;
}

/**
 * Runs one request: read the body → hydrate → fetch features → components → page.
 * @param given what the experiments chose; undefined if they choose now
 */
export async function runPipeline(
  called: Plan,
  services: PipelineServices,
  body: unknown,
  context: RequestContext,
  isExplained = false,
  given?: Choice,
): Promise<PipelineRun> {
  let plan = called;
  const stages = new StageRunner(plan.definition.limits.time, context, services.usage);
  const { deadline } = stages;
  const { onEffectError, onHeld, usage } = services;
  const log = isExplained ? undefined : services.log;
  let opened: OpenedRequest | undefined;
  const check = (): void => deadline.check();
  const loss = new StoreLoss(called, deadline);
  let choice = given;
  let taken = given?.taken ?? [];
  const reads = readsOf(services, stages, loss, context.span);
  const logged = (runId: string | undefined): Pick<LoggedRun, 'runId' | 'ms' | 'experiments'> => ({
    runId,
    experiments: taken,
    ms: performance.now() - stages.clock.started,
  });
  try {
    check(); // the request may have waited beyond its deadline
    opened = await stages.run('read', () => readBody(plan, services, body, context, deadline));
    const { request, frame } = opened;
    if (services.experiments === undefined && given === undefined) refuseArms(context.arms);
    choice ??= services.experiments?.choose(request.entityIds, frame.now, context);
    if (choice !== undefined && given === undefined) {
      ({ taken } = choice); // a request that fails later is recorded with its arms
      const { variant } = choice;
      const arm = variant.pipeline === undefined ? undefined : services.experiments?.arm(variant.pipeline);
      if (arm !== undefined) {
        const { requestId } = request;
        plan.frames.release(frame);
        opened = undefined;
        return await runPipeline(
          arm.plan,
          arm.services,
          body,
          { ...context, requestId, deadline },
          isExplained,
          choice,
        );
      }
      ({ plan } = variant);
      setParams(plan, frame);
    }
    const second = choice?.rival && armOf(choice.rival, services, opened, body, reads);
    const trace = traceOf(request, context.runId, isExplained);
    const pending = await stages.run('hydrate', () =>
      loss.survive(() => hydrate(plan, frame, request, reads)),
    );
    const statuses = await stages.run('features', async () => {
      const read = pending && (await loss.survive(() => fetchFeatures(plan, frame, pending, reads)));
      return read ?? unreadFeatures(plan, frame);
    });
    const ranked = await stages.run('components', () =>
      loss.code === undefined
        ? runArms(plan, frame, request.ids, second, {
            deadline,
            onEffectError,
            onHeld,
            observer: trace,
            draws: saltedDraws(plan, services.exploreSalt ?? '', request.requestId),
            page: { size: request.paging.userPageSize, first: pageStart(request.paging) },
            ordersAll: log?.ordersAll(request),
            span: stages.span,
          })
        : unranked(plan, frame, request.ids),
    );
    const { release }: Partial<InterleavedCandidates> = ranked;
    const mixed = mixedRun(choice, ranked);
    const { teams } = mixed;
    ({ taken } = mixed);
    const { page, answer } = await stages.run('page', () =>
      answerPage(plan, frame, request, ranked.ranking, trace, loss.code, services.hasher ?? PLAIN_IDS, check),
    );

    const { span } = stages;
    const answered = {
      requestId: request.requestId,
      start: Math.max(0, pageStart(request.paging)),
      rows: page,
    };
    const steps = trace?.isRehearsal
      ? ranked.steps
      : runServed(plan, frame, ranked, answered, { deadline, onEffectError, onHeld, span });
    const own = reportOf(request, reads.batch, statuses, ranked, stages.clock.ms, loss.code);
    const report: RunReport = {
      ...own,
      misspeltFields: services.misspelt?.of(request.unknownFields) ?? [],
      degraded: [...own.degraded, ...mixed.degraded],
      ...(opened.indexed === undefined ? {} : { indexed: opened.indexed }),
      experiments: taken,
      ...(teams === undefined ? {} : { interleaved: pageTeams(teams, page) }),
    };
    const explained =
      trace?.isRehearsal === true
        ? {
            ...ranked,
            plan,
            request,
            frame,
            page,
            statuses: statuses.features,
            report,
            answer,
            teams,
            trace,
          }
        : undefined;
    if (explained !== undefined) services.observe?.(explained);
    const explanation =
      explained === undefined || services.observe !== undefined
        ? undefined
        : await inTurns(explain(explained), check);
    const served = { ...ranked, page, degraded: report.degraded, teams };
    leaveRecord(
      log,
      { ...opened, ...logged(trace?.runId ?? context.runId), status: 'ok', served },
      usage,
      () => {
        // The frame that is released last is used next: that of control, whose columns are in the processor's cache.
        release?.();
        releaseFrame(plan, frame, steps);
      },
    );
    return { answer, report, explanation };
  } catch (error) {
    const status = error instanceof MillraceError ? error.code : 'internal';
    // An arm that is a pipeline runs inside the call that chose it, which counts it.
    if (given === undefined && taken.length > 0) context.failed?.(taken);
    // The frame of a failed request is dropped: work that still runs may write to it.
    if (opened !== undefined)
      leaveRecord(
        log,
        { ...opened, ...logged(context.runId), status, served: undefined },
        usage,
        () => undefined,
      );
    throw error;
  } finally {
    reads.resident?.end();
    loss.end();
    stages.close();
  }
}

/** Runs the steps of the plan, and those of the arm that is interleaved with it. */
function runArms(
  plan: Plan,
  frame: Frame,
  ids: readonly string[],
  second: SecondArm | undefined,
  services: StepServices,
): Promise<RankedCandidates | InterleavedCandidates> {
  return second === undefined
    ? runComponents(plan, frame, ids, services)
    : runInterleaved(plan, frame, ids, second, services);
}

function armOf(
  rival: Rival,
  { experiments, resident, readers }: PipelineServices,
  opened: OpenedRequest,
  body: unknown,
  reads: ReadServices,
): SecondArm | undefined {
  const { plan, pipeline } = rival.variant;
  if (rival.shared !== undefined)
    return secondArm(rival, { plan, shared: rival.shared, resident, readers }, opened, body, reads);
  const arm = pipeline === undefined ? undefined : experiments?.arm(pipeline);
  if (arm === undefined) return undefined;
  const own = { plan: arm.plan, shared: arm.shared, resident, readers: arm.services.readers };
  return secondArm(rival, own, opened, body, reads);
}

/** Checks the body and writes its ids into a frame. If it asks for candidates of the index, they are found first. */
function readBody(
  plan: Plan,
  services: PipelineServices,
  body: unknown,
  context: RequestContext,
  deadline: Deadline,
): OpenedRequest | Promise<OpenedRequest> {
  const open = (sent: unknown): OpenedRequest | Promise<OpenedRequest> =>
    soon(openRequest(plan, sent, context.requestId, services.now, context.rulesAt), () => deadline.check());
  const wanted = wantedFromIndex(plan, body);
  if (wanted === undefined) return open(body);
  const { store, layouts, now, index } = services;
  if (index === undefined) throw new Error('candidates cannot come from the index here');
  // The plan of a condition reads the store as any plan does.
  const keep = async (filter: Plan, some: JsonObject): Promise<readonly string[]> => {
    const own = { requestId: context.requestId, deadline };
    const { answer } = await runPipeline(filter, { store, layouts, now }, some, own);
    return (answer.ranked_candidates ?? []).map(({ candidate_id: id }) => id);
  };
  return findInIndex(plan, body as JsonObject, wanted, { store, keep, ...index }, deadline).then(
    async ({ body: sent, found }) => ({ ...(await open(sent)), indexed: found, body: sent }),
  );
}

function readsOf(
  { store, layouts, resident, readers, historyRetention, eventNumbers }: PipelineServices,
  stages: StageRunner,
  { time }: StoreLoss,
  span: RequestContext['span'],
): ReadServices {
  const spans = span?.isRecorded === true ? stages : undefined;
  return {
    batch: new BatchRead(spans === undefined ? store : new TracedStore(store, spans), time),
    layouts,
    resident: resident && new ResidentSession(resident),
    readers,
    historyRetention,
    eventNumbers,
    clock: stages.clock,
    spans,
  };
}
