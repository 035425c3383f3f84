import type { Component } from '../../ground/api/component.js';
import type { Plan, PlannedStep } from '../../request/compile/plan.js';
import { Deadline } from '../../ground/core/deadline.js';
import { atOnce } from '../../ground/core/pieces.js';
import type { JudgedRanking } from '../evaluation/metrics.js';
import type { Frame } from '../../language/frame/frame.js';
import { firstPage, runStep } from '../../request/pipeline/components/run-components.js';
import { Ranking, type KeptRanking } from '../../request/ordering/ranking.js';
import { fetchFeatures } from '../../request/pipeline/features/fetch-features.js';
import { BatchRead } from '../../request/pipeline/hydrate/batch-read.js';
import { hydrate } from '../../request/pipeline/hydrate/hydrate.js';
import { relaxed } from '../../request/pipeline/request/lax-body.js';
import { openRequest } from '../../request/pipeline/request/open-request.js';
import type { PipelineServices } from '../../request/pipeline/pipeline-services.js';
import { dependenceOf, type Dependence } from '../../request/compile/dependence.js';
import { Random } from '../../ground/core/random.js';
import { REMOVED, ScoreTable, type ProbedRanking } from './score-table.js';
import type { TunedParam } from './coordinate-ascent.js';
import type { JudgedRequest } from './judged-request.js';
import type { LoggedRequest, LoggedValues } from './logged-values.js';
import { runKernelsAtOnce } from '../../language/expression/run-kernels.js';

/** Values by param. */
export type ParamValues = ReadonlyMap<string, number>;

type Measure = (ranking: JudgedRanking) => number | undefined;

/** Points at which sums are compared with the pipeline. */
const CHECKS = 3;
/** The longest time limit that a timer can have. */
const NO_LIMIT = 2 ** 31 - 1;

/** A query that was read and computed once. Only what depends on the params is computed again. */
interface KeptQuery {
  readonly frame: Frame;
  readonly ranking: Ranking;
  /** The ranking before the first step that runs again. */
  readonly kept: KeptRanking;
  /** By row. */
  readonly grades: Float64Array;
  readonly ideal: readonly number[];
}

/**
 * Ranks the same queries with many values of a plan's params. The store is read once a query, and the steps that the
 * params cannot change run once. The plan must be one for tuning.
 */
export class TunablePipeline {
  readonly #plan: Plan;
  readonly #services: PipelineServices | undefined;
  readonly #dependence: Dependence;
  readonly #queries: KeptQuery[] = [];
  #table: ScoreTable | undefined;
  #logged: LoggedValues | undefined;
  readonly #deadline = new Deadline(NO_LIMIT);
  /** The last component of each step whose options name params. */
  readonly #built = new Map<PlannedStep, { readonly key: string; readonly component: Component }>();

  /**
   * @param services undefined if all queries are logged ones
   * @param params the params whose values change
   */
  constructor(plan: Plan, services: PipelineServices | undefined, params: Iterable<string>) {
    if (plan.open === undefined) throw new Error('the plan is not for tuning');
    this.#plan = plan;
    this.#services = services;
    this.#dependence = dependenceOf(plan, params);
  }

  /** Whether the params change anything. */
  get isChanged(): boolean {
    return this.#dependence.first !== undefined;
  }

  get queries(): number {
    return this.#queries.length;
  }

  /** Queries whose rankings come from sums; see `takeSums`. */
  get sums(): number {
    return this.#queries.filter((_, at) => this.#table?.has(at)).length;
  }

  /**
   * Reads a query from the store and runs the steps that the params cannot change.
   * @throws MillraceError as a request to the pipeline
   */
  async add({ body, grades }: JudgedRequest): Promise<void> {
    const plan = this.#plan;
    if (this.#services === undefined) throw new Error('there is no store to read from');
    const { store, layouts, readers, now, isLax } = this.#services;
    const sent = relaxed(plan, body, isLax);
    const { request, frame } = atOnce(openRequest(plan, sent, now, { requestId: 'tune' }));
    const reads = { batch: new BatchRead(store, this.#deadline), layouts, resident: undefined, readers };
    await fetchFeatures(plan, frame, await hydrate(plan, frame, request, reads), reads);

    const ranking = new Ranking(frame, plan.candidateType.name, request.ids, { page: firstPage(plan) });
    await this.#keep(
      frame,
      ranking,
      Float64Array.from(request.ids, (id) => grades.get(id) ?? NaN),
      [...grades.values()],
      (step) => (step.kind === 'effect' ? undefined : step),
    );
  }

  /**
   * Takes the values of a logged request instead of those of the store.
   * @param values of the same plan and params; nothing may be missing in it
   * @throws MillraceError if a step fails
   */
  async addLogged(request: LoggedRequest, values: LoggedValues): Promise<void> {
    this.#logged = values;
    const frame = values.frameOf(request);
    const ranking = new Ranking(frame, this.#plan.candidateType.name, request.ids, {
      page: firstPage(this.#plan),
    });
    await this.#keep(frame, ranking, request.grades, [...request.grades], (step) => values.steps.get(step));
  }

  /** Runs the steps before the first one that the params can change, and keeps the query. */
  async #keep(
    frame: Frame,
    ranking: Ranking,
    grades: Float64Array,
    judged: readonly number[],
    asRun: (step: PlannedStep) => PlannedStep | undefined,
  ): Promise<void> {
    let kept: KeptRanking | undefined;
    for (const [index, step] of this.#plan.steps.entries()) {
      if (index === this.#dependence.first) kept = ranking.keep();
      const run = asRun(step);
      if (run !== undefined) await this.#run(run, frame, ranking);
    }
    this.#queries.push({
      frame,
      ranking,
      kept: kept ?? ranking.keep(),
      grades,
      ideal: judged.filter((grade) => !Number.isNaN(grade)).sort((a, b) => b - a),
    });
  }

  /**
   * Ranks queries with the values, and measures the first `depth` ranks of each.
   * @param on numbers of queries; by default all
   * @param isExact whether all rankings come from the steps, also those that the sums of `takeSums` give
   * @returns by query; NaN where the measure is not defined. Undefined if a plugin refuses the values
   */
  async measure(
    values: ParamValues,
    depth: number,
    measure: Measure,
    on: Iterable<number> = this.#queries.keys(),
    isExact = false,
  ): Promise<Float64Array | undefined> {
    const [steps, point] = [await this.#stepsFor(values), [...values.values()]];
    if (steps === undefined) return undefined;
    const results = new Float64Array(this.#queries.length);
    for (const at of on) {
      const query = this.#queries[at];
      if (query === undefined) continue;
      results[at] =
        this.#table?.has(at) === true && !isExact
          ? this.#table.measure(at, point)
          : await this.#measureOne(query, steps, values, depth, measure);
    }
    return results;
  }

  /**
   * Finds the queries whose scores are sums over the params. From then on, `measure` takes their rankings from the sums
   * instead of from the steps.
   * @param params in the order of the values of each `measure`
   * @param measure adds up the gains of the ranks, each divided by the discount of its rank, as DCG and NDCG do
   */
  async takeSums(
    params: readonly (TunedParam & { readonly value: number })[],
    depth: number,
    measure: Measure,
  ): Promise<void> {
    const gains = this.#queries.map(({ grades, ideal }) =>
      grades.map((grade) => measure({ ranked: [grade], ideal }) ?? 0),
    );
    const first = params.map(({ value }) => value);
    const table = new ScoreTable(first, gains, depth);
    const probe = async (
      point: readonly number[],
      take: (query: number, ranking: ProbedRanking, measured: number) => void,
    ): Promise<boolean> => {
      const values = new Map(params.map(({ name }, at) => [name, point[at] ?? 0]));
      const steps = await this.#stepsFor(values);
      if (steps === undefined) return false;
      for (const [at, query] of this.#queries.entries()) {
        if (!table.has(at)) continue;
        const measured = await this.#measureOne(query, steps, values, depth, measure);
        // A query without a relevant candidate is never measured.
        if (Number.isNaN(measured)) {
          table.leaveOut(at);
          continue;
        }
        const { scores, tiers, rows } = query.ranking;
        const kept = new Set(rows);
        const own = tiers.slice(0, query.frame.count).map((tier, row) => (kept.has(row) ? tier : REMOVED));
        take(at, { scores, tiers: own }, measured);
      }
      return true;
    };
    if (!(await probe(first, (query, ranking) => table.takeFirst(query, ranking)))) return;
    for (const [at, { min, max, value }] of params.entries()) {
      const other = max - value > value - min ? max : min;
      const take = (query: number, ranking: ProbedRanking): void =>
        table.takeFactor(query, at, other - value, ranking);
      if (!(await probe(first.with(at, other), take))) return;
    }
    const random = new Random(1);
    for (let check = 0; check < CHECKS; check++) {
      const point = params.map(({ min, max }) => min + random.next() * (max - min));
      if (!(await probe(point, (query, ranking, measured) => table.check(query, point, ranking, measured))))
        return;
    }
    this.#table = table;
  }

  async #measureOne(
    { frame, ranking, kept, grades, ideal }: KeptQuery,
    steps: readonly PlannedStep[],
    values: ParamValues,
    depth: number,
    measure: Measure,
  ): Promise<number> {
    // Without a relevant candidate, no measure is defined, whatever the values.
    if (!((ideal[0] ?? 0) > 0)) return NaN;
    for (const [name, slot] of this.#plan.open?.slots ?? []) {
      const value = values.get(name);
      if (value !== undefined) frame.number(slot).values[0] = value;
    }
    ranking.reset(kept);
    for (const step of steps) await this.#run(step, frame, ranking);
    const ranked = ranking.slice(0, Math.min(depth, frame.count)).map(({ row }) => grades[row] ?? NaN);
    return measure({ ranked, ideal }) ?? NaN;
  }

  async close(): Promise<void> {
    this.#deadline.end();
    for (const { component } of this.#built.values()) await component.close?.();
    this.#built.clear();
  }

  async #run(step: PlannedStep, frame: Frame, ranking: Ranking): Promise<void> {
    for (const slot of step.outputs.values()) frame.clear(slot);
    runKernelsAtOnce(step.prepare, frame);
    await runStep(step, { frame, ranking, deadline: this.#deadline, handlers: {} }, undefined);
  }

  /** The steps to run again, with components that have the values in their options. */
  async #stepsFor(values: ParamValues): Promise<readonly PlannedStep[] | undefined> {
    const steps: PlannedStep[] = [];
    for (const planned of this.#dependence.again) {
      const step = this.#logged === undefined ? planned : this.#logged.steps.get(planned);
      if (step === undefined) continue;
      const { rebuild } = step;
      if (rebuild === undefined) {
        steps.push(step);
        continue;
      }
      const own = new Map([...values].filter(([name]) => rebuild.params.has(name)));
      const key = JSON.stringify([...own]);
      let built = this.#built.get(planned);
      if (built?.key !== key) {
        const component = await rebuild.create(own).catch(() => undefined);
        if (component === undefined) return undefined;
        await component.warm?.({ warn: () => undefined });
        await built?.component.close?.();
        this.#built.set(planned, (built = { key, component }));
      }
      steps.push({ ...step, component: built.component });
    }
    return steps;
  }
}
