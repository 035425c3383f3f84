import { Status } from '../../../ground/api/status.js';
import { exploringStep } from '../../compile/exploration.js';
import type { NamedColumn, Plan } from '../../compile/plan.js';
import type { LogDefinition, PipelineDefinition } from '../../../project/config/model/pipelines.js';
import { customEventText } from '../../../ground/core/event-types.js';
import type { IdHasher } from '../../../ground/core/id-hasher.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { LiveExperiments, TakenArm } from '../../experiments/live-experiments.js';
import { EXPERIMENT_FIELDS, EXPLORE_FIELDS, TEAM_FIELD } from '../../../state/ledger/experiment-columns.js';
import { writeFields } from '../../../state/ledger/fields.js';
import type { Ledger } from '../../../state/ledger/ledger.js';
import { CUSTOM_FIELD, RANKING_FIELDS } from '../../../state/ledger/ranking-fields.js';
import type { RecordSchema } from '../../../state/ledger/record-schema.js';
import type { RecordWriter } from '../../../state/ledger/record-writer.js';
import type { RankedRow } from '../../ordering/ranking.js';
import type { RankedCandidates } from '../components/run-components.js';
import { degradationText, type Degradation } from '../page/degraded.js';
import { teamName, type Teams } from '../interleave/mixed-run.js';
import type { RankingRequest } from '../request/read-request.js';
import { Changes } from './changes.js';
import { chooseRows, type ChosenRows } from './choose-rows.js';
import { DrawColumns } from './draw-columns.js';
import { HashedIds } from './hashed-cells.js';
import { loggedValues, modelVersions, pipelineVersion, rankingSchema, writtenLog } from './ranking-schema.js';
import { isInShare, unitOf } from './units.js';
import { runKernels } from '../../../language/expression/run-kernels.js';
import { isMixed } from '../../../project/config/model/experiment-modes.js';

/** A request that was answered, or that failed after its body was checked. */
export interface LoggedRun {
  readonly request: RankingRequest;
  readonly frame: Frame;
  readonly runId: string | undefined;
  /** The experiments that it takes part in. */
  readonly experiments: readonly TakenArm[];
  /** Milliseconds from its start. */
  readonly ms: number;
  /** `ok`, or the code of the error. */
  readonly status: string;
  /** Undefined if it failed. */
  readonly served: ServedRun | undefined;
}

export interface ServedRun extends Pick<RankedCandidates, 'ranking' | 'steps'> {
  readonly page: readonly RankedRow[];
  readonly degraded: readonly Degradation[];
  /** Of an interleaved request. */
  readonly teams?: Teams | undefined;
}

/** The pipeline that a request called, which has experiments. */
export interface CalledPipeline {
  readonly definition: PipelineDefinition;
  readonly experiments: LiveExperiments;
  /** The plans of the pipelines that arms name. */
  readonly arms: ReadonlyMap<string, Plan>;
}

/** What the records of all pipelines need. */
export interface RecordServices {
  readonly ledger: Ledger;
  /** See `logHasherOf`. */
  readonly hasherOf: (definition: PipelineDefinition) => IdHasher;
  readonly projectVersion: string;
  /** Whether the project is that of a rollback. */
  readonly isRolledBack?: boolean;
  /** Called if a record cannot be made. */
  readonly onError: (error: unknown) => void;
}

/** Where one pipeline leaves the records of its requests. */
export class RankingLog {
  readonly onError: (error: unknown) => void;
  readonly #plan: Plan;
  readonly #log: LogDefinition;
  readonly #ledger: Ledger;
  readonly #hasher: IdHasher;
  readonly #schema: RecordSchema;
  readonly #values: Readonly<Record<'record' | 'candidate', readonly NamedColumn[]>>;
  readonly #unitType: string;
  readonly #hasExperiments: boolean;
  readonly #hasTeams: boolean;
  /** Undefined if no step explores. */
  readonly #draws: DrawColumns | undefined;
  readonly #changes = new Changes();
  /** By row, see `Ranking.placeAll`. They are reused from record to record. */
  #places = new Int32Array(0);
  #scores = new Float64Array(0);
  #onPage = new Uint8Array(0);
  #baseStatuses = new Uint8Array(0);
  #statuses = new Uint8Array(0);
  readonly #teams: string[] = [];

  /**
   * The log of a pipeline; undefined if it has no `log:`.
   * @param plan that runs the requests
   * @param called the pipeline that is called, if it has experiments; its `log:` counts
   */
  static of(plan: Plan, services: RecordServices, called?: CalledPipeline): RankingLog | undefined {
    const { log } = called?.definition ?? plan.definition;
    return log && new RankingLog(plan, log, services, called);
  }

  private constructor(
    plan: Plan,
    log: LogDefinition,
    { ledger, hasherOf, projectVersion, isRolledBack = false, onError }: RecordServices,
    called: CalledPipeline | undefined,
  ) {
    this.onError = onError;
    const unit = plan.definition.request.fields.get(log.unit);
    this.#plan = plan;
    this.#log = log;
    this.#ledger = ledger;
    this.#hasher = hasherOf({ ...plan.definition, log });
    const exploring = exploringStep(plan.steps);
    const meta = {
      hashed: [...this.#hasher.types].sort(),
      ...(isRolledBack && { rolled_back: true }),
      ...(called && {
        experiments: called.experiments.described(),
        experiment_pipeline: called.definition.name,
        arm_pipelines: Object.fromEntries(
          Array.from(called.arms, ([name, arm]) => [
            name,
            { version: pipelineVersion(arm), models: modelVersions(arm) },
          ]),
        ),
        log: writtenLog(log),
      }),
      ...(exploring && {
        explore: {
          step: exploring.step.as,
          top: exploring.exploration.top,
          ...exploring.exploration.draw,
        },
      }),
    };
    this.#hasExperiments = called !== undefined;
    this.#hasTeams = called?.experiments.definitions.some(isMixed) ?? false;
    this.#schema = rankingSchema(plan, projectVersion, {
      meta,
      record: [CUSTOM_FIELD, ...(this.#hasExperiments ? EXPERIMENT_FIELDS : [])],
      candidate: [...(this.#hasTeams ? [TEAM_FIELD] : []), ...(exploring ? EXPLORE_FIELDS : [])],
    });
    this.#draws = exploring && new DrawColumns();
    this.#values = loggedValues(plan);
    this.#unitType = unit?.kind === 'entity' ? unit.entity : log.unit;
  }

  /** Whether the request is to be recorded. */
  wants(request: RankingRequest): boolean {
    return this.#ledger.takes('ranking') && isInShare(this.#log, this.#unitType, request);
  }

  /** Whether the record of the request has candidates that are not on the page. */
  ordersAll(request: RankingRequest): boolean {
    return (this.#log.candidates === 'all' || this.#log.sample > 0) && this.wants(request);
  }

  /** Records a request. The frame must hold it until the end. */
  add(run: LoggedRun): Promise<void> | undefined {
    const computing = runKernels(this.#plan.log.kernels, run.frame);
    if (computing !== undefined) return computing.then(() => this.#record(run));
    this.#record(run);
    return undefined;
  }

  #record(run: LoggedRun): void {
    const { frame, request, served } = run;
    this.#clear(frame.count);
    for (const { row } of served?.page ?? []) this.#onPage[row] = 1;
    const chosen = this.#choose(request, frame.count, served);
    if (served !== undefined && chosen.count === served.page.length) this.#placePage(request, served);
    else served?.ranking.placeAll(this.#places, this.#scores);
    const changes = this.#changes;
    if (served === undefined) changes.clear(frame.count);
    else changes.find(served.steps, served.ranking);
    changes.keepOnly(chosen.rows);
    this.#ledger.add(this.#schema, { candidate: chosen.count, change: changes.count }, (writer) => {
      const ids = new HashedIds(this.#hasher);
      this.#writeRequest(writer, run, ids);
      for (const { slot } of this.#values.record) this.#writeValue(writer, frame, slot, ids, 1, undefined);
      this.#writeCandidates(writer, run, chosen, ids);
      for (const { slot } of this.#values.candidate)
        this.#writeValue(writer, frame, slot, ids, chosen.count, chosen.rows);
      changes.write(writer);
    });
  }

  /** Gives no candidate a place, an answered score or the page. */
  #clear(count: number): void {
    if (this.#places.length < count) {
      const rows = Math.max(count, 2 * this.#places.length);
      this.#places = new Int32Array(rows);
      this.#scores = new Float64Array(rows);
      this.#onPage = new Uint8Array(rows);
      this.#baseStatuses = new Uint8Array(rows);
      this.#statuses = new Uint8Array(rows);
    }
    this.#onPage.fill(0, 0, count);
    this.#places.fill(0, 0, count);
    this.#scores.fill(NaN, 0, count);
  }

  /** Places the candidates of the page, if the record has no others: they need no second sort. */
  #placePage({ paging }: RankingRequest, { page }: ServedRun): void {
    let place = Math.max(0, paging.start);
    for (const { row, score } of page) {
      this.#places[row] = ++place;
      this.#scores[row] = score;
    }
  }

  /** A failed request has no page, and no sample that stands for others. */
  #choose(request: RankingRequest, count: number, served: ServedRun | undefined): ChosenRows {
    const log = served === undefined ? { candidates: this.#log.candidates, sample: 0 } : this.#log;
    return chooseRows(log, request.requestId, count, this.#onPage, served?.page.length ?? 0);
  }

  #writeRequest(writer: RecordWriter, run: LoggedRun, ids: HashedIds): void {
    const { request, frame, runId, ms, status, served } = run;
    const { definition } = this.#plan;
    const unit = unitOf(this.#log, request);
    const entities: string[] = [];
    for (const field of definition.request.fields.values()) {
      const id = field.kind === 'entity' ? request.entityIds.get(field.name) : undefined;
      if (field.kind === 'entity' && id !== undefined)
        entities.push(`${field.entity}=${ids.shown(field.entity, id)}`);
    }
    writeFields(writer, RANKING_FIELDS.record, {
      request_id: request.requestId,
      run_id: runId,
      time: frame.now,
      status,
      degraded: served?.degraded.map(degradationText) ?? [],
      sent: request.ids.length,
      left: served?.ranking.rows.length ?? 0,
      page_start: Math.max(0, request.paging.start),
      page_size: request.paging.size,
      unit: unit === undefined ? undefined : ids.shown(this.#unitType, unit),
      entities,
      share: this.#log.share,
      ms,
    });
    writeFields(writer, [CUSTOM_FIELD], { custom: this.#customEvents(frame, request, ids) });
    if (this.#hasExperiments) writeExperiments(writer, run.experiments, ids);
  }

  /** The data of the events of components, as JSON. */
  #customEvents({ emitted }: Frame, { requestId, ids: sent }: RankingRequest, ids: HashedIds): string[] {
    const { name } = this.#plan.candidateType;
    return emitted.map(({ row, data }) =>
      customEventText(
        row === undefined ? requestId : ids.shown(name, sent[row] ?? ''),
        row === undefined ? 'request' : name,
        data,
      ),
    );
  }

  #writeCandidates(
    writer: RecordWriter,
    { request, frame, served }: LoggedRun,
    { rows, count, weight }: ChosenRows,
    ids: HashedIds,
  ): void {
    const { name } = this.#plan.candidateType;
    const { base, removedBy } = this.#changes;
    const each = { length: count };
    writeFields(writer, RANKING_FIELDS.candidate, {
      candidate_id: this.#hasher.hides(name)
        ? { values: Array.from(each, (_, i) => ids.shown(name, request.ids[rows?.[i] ?? i] ?? '')) }
        : { values: request.ids, rows },
      sent_at: { values: rows ?? ascending(count) },
      place: { values: this.#places, rows },
      base_score: { values: base, statuses: this.#scored(base, this.#baseStatuses, count, rows), rows },
      score: {
        values: this.#scores,
        statuses: this.#scored(this.#scores, this.#statuses, count, rows),
        rows,
      },
      removed_by: { values: removedBy, rows },
      weight:
        weight === 1
          ? 1
          : { values: Float64Array.from(each, (_, i) => (this.#onPage[rows?.[i] ?? i] === 1 ? 1 : weight)) },
      on_page: { values: this.#onPage, rows },
    });
    if (this.#hasTeams) this.#writeTeams(writer, served?.teams, count, rows);
    this.#draws?.write(writer, served?.ranking, this.#places, frame.count, rows);
  }

  #writeTeams(
    writer: RecordWriter,
    teams: Teams | undefined,
    count: number,
    rows: Int32Array | undefined,
  ): void {
    for (let i = 0; teams !== undefined && i < count; i++) {
      const row = rows?.[i] ?? i;
      const name = teamName(teams, row);
      this.#statuses[row] = name === undefined ? Status.absent : Status.present;
      this.#teams[row] = name ?? '';
    }
    const team = teams && { values: this.#teams, statuses: this.#statuses, rows };
    writeFields(writer, [TEAM_FIELD], { team });
  }

  /** The statuses of scores. A removed candidate has no score; neither has one of a failed request. */
  #scored(
    scores: Float64Array,
    statuses: Uint8Array,
    count: number,
    rows: Int32Array | undefined,
  ): Uint8Array {
    for (let i = 0; i < count; i++) {
      const row = rows?.[i] ?? i;
      const has = this.#places[row] !== 0 && Number.isFinite(scores[row]);
      statuses[row] = has ? Status.present : Status.absent;
    }
    return statuses;
  }

  #writeValue(
    writer: RecordWriter,
    frame: Frame,
    slot: number,
    ids: HashedIds,
    count: number,
    rows: Int32Array | undefined,
  ): void {
    const column = frame.columns[slot];
    if (column === undefined) throw new RangeError(`the frame has no column ${slot}`);
    const type = this.#plan.layout.columns[slot]?.idsOf;
    if (type !== undefined && this.#hasher.hides(type)) ids.write(writer, column, type, count, rows);
    else writer.column(column, rows);
  }
}

function writeExperiments(writer: RecordWriter, taken: readonly TakenArm[], ids: HashedIds): void {
  writeFields(writer, EXPERIMENT_FIELDS, {
    experiment: taken.map(({ experiment }) => experiment),
    arm: taken.map(({ arm }) => arm),
    experiment_unit: taken.map(({ unit, unitType }) => (unit === undefined ? '' : ids.shown(unitType, unit))),
    excluded: taken.map(({ excluded }) => excluded ?? ''),
  });
}

let numbers = new Int32Array(0);

/** 0, 1, 2 …, at least `count` numbers. */
function ascending(count: number): Int32Array {
  if (numbers.length < count) numbers = Int32Array.from({ length: 2 * count }, (_, i) => i);
  return numbers;
}
