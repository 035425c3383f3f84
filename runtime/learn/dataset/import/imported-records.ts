import { Status } from '../../../ground/api/status.js';
import type { NamedColumn, Plan } from '../../../request/compile/plan.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { Deadline } from '../../../ground/core/deadline.js';
import type { IdHasher } from '../../../ground/core/id-hasher.js';
import { atOnce } from '../../../ground/core/pieces.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { Ledger } from '../../../state/ledger/ledger.js';
import { DRAWN_FIELDS } from '../../../state/ledger/experiment-columns.js';
import { writeFields } from '../../../state/ledger/fields.js';
import { RANKING_FIELDS } from '../../../state/ledger/ranking-fields.js';
import type { RecordSchema } from '../../../state/ledger/record-schema.js';
import type { RecordWriter } from '../../../state/ledger/record-writer.js';
import { releaseFrame } from '../../../request/pipeline/log/leave-record.js';
import { Ranking } from '../../../request/pipeline/components/ranking.js';
import { runStep, type StepReport } from '../../../request/pipeline/components/run-components.js';
import { fetchFeatures } from '../../../request/pipeline/features/fetch-features.js';
import { BatchRead } from '../../../request/pipeline/hydrate/batch-read.js';
import { hydrate } from '../../../request/pipeline/hydrate/hydrate.js';
import { HashedIds } from '../../../request/pipeline/log/hashed-cells.js';
import { loggedValues, rankingSchema } from '../../../request/pipeline/log/ranking-schema.js';
import { openRequest } from '../../../request/pipeline/request/open-request.js';
import type { RankingRequest } from '../../../request/pipeline/request/read-request.js';
import type { PipelineServices } from '../../../request/pipeline/pipeline-services.js';
import type {
  ForeignAct,
  ForeignCandidate,
  ForeignFeedback,
  ForeignRanking,
  RejectReason,
} from '../../../project/foreign/foreign-event.js';
import { requestBody, type ConvertText } from './foreign-request.js';
import { ImportedFeedback } from './imported-feedback.js';
import { runKernelsAtOnce } from '../../../language/expression/run-kernels.js';

/** The longest time limit that a timer can have. */
const NO_LIMIT = 2 ** 31 - 1;
/** The kind of feedback that a user gives: the unit of a ranking. */
const USER = 'user';

export interface ImportedRecordsOptions {
  readonly plan: Plan;
  readonly services: PipelineServices;
  readonly ledger: Ledger;
  readonly hasher: IdHasher;
  readonly projectVersion: string;
  readonly convert: ConvertText;
}

export interface Refused {
  readonly reason: RejectReason;
  readonly detail: string;
}

/**
 * Makes records of foreign rankings and feedback. The values that the pipeline logs are computed by its plan, from what the
 * store holds now and from what the log says of the request. The clock of the plan shows the time of the request.
 */
export class ImportedRecords {
  readonly #plan: Plan;
  readonly #services: PipelineServices;
  readonly #ledger: Ledger;
  readonly #feedback: ImportedFeedback;
  readonly #hasher: IdHasher;
  readonly #convert: ConvertText;
  readonly #values: Readonly<Record<'record' | 'candidate', readonly NamedColumn[]>>;
  readonly #schemas: Readonly<Record<'plain' | 'pooled' | 'drawn', RecordSchema>>;
  readonly #deadline = new Deadline(NO_LIMIT);
  #now = 0;
  /** Candidates that are not in the store. */
  missing = 0;

  constructor({ plan, services, ledger, hasher, projectVersion, convert }: ImportedRecordsOptions) {
    this.#plan = plan;
    this.#services = { ...services, now: () => this.#now };
    this.#ledger = ledger;
    this.#feedback = new ImportedFeedback(plan.candidateType.name, ledger, hasher);
    this.#hasher = hasher;
    this.#convert = convert;
    this.#values = loggedValues(plan);
    const meta = { imported: true, computed_at: 'import' };
    this.#schemas = {
      plain: rankingSchema(plan, projectVersion, { meta }),
      drawn: rankingSchema(plan, projectVersion, { meta, candidate: DRAWN_FIELDS }),
      pooled: rankingSchema(plan, projectVersion, { meta: { ...meta, pooled: true } }),
    };
  }

  /**
   * Records a ranking, and the clicks, orders and other acts on its candidates.
   * @returns the reason if the pipeline refuses it
   */
  async addRanking(ranking: ForeignRanking): Promise<Refused | undefined> {
    const { limits, name } = this.#plan.definition;
    const { length } = ranking.candidates;
    if (length > limits.candidates)
      return {
        reason: 'too_many_candidates',
        detail: `${length} candidates, and ${name} ranks at most ${limits.candidates}`,
      };
    this.#now = ranking.time;
    try {
      await this.#addComputed(ranking);
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'invalid_body') throw error;
      const [violation] = error.violations;
      const where = violation === undefined || violation.pointer === '' ? '' : `${violation.pointer}: `;
      return { reason: 'bad_request', detail: where + (violation?.detail ?? error.message) };
    }
    for (const { id, position, acts } of ranking.candidates)
      for (const act of acts)
        this.addFeedback({
          ...act,
          is: 'feedback',
          request: ranking.request,
          owners: ranking.owners,
          candidate: id,
          position,
          values: {},
        });
    return undefined;
  }

  addFeedback(feedback: ForeignFeedback): void {
    this.#feedback.add(feedback);
  }

  close(): void {
    this.#deadline.end();
  }

  async #addComputed(ranking: ForeignRanking): Promise<void> {
    const plan = this.#plan;
    const { store, layouts, readers, now } = this.#services;
    const body = requestBody(plan, ranking, this.#convert);
    const { request, frame } = atOnce(openRequest(plan, body, ranking.request, now));
    const reads = { batch: new BatchRead(store, this.#deadline), layouts, resident: undefined, readers };
    await fetchFeatures(plan, frame, await hydrate(plan, frame, request, reads), reads);
    this.missing += reads.batch.missing.get(plan.candidateType.name) ?? 0;
    const steps = new Ranking(frame, plan.candidateType.name, request.ids);
    const reports: StepReport[] = [];
    for (const step of plan.steps) {
      runKernelsAtOnce(step.prepare, frame);
      // The order is that of the other system, and it showed all of these candidates: no filter and no rule runs.
      if (step.kind === 'feature' || step.kind === 'model')
        reports.push(
          await runStep(step, { frame, ranking: steps, deadline: this.#deadline, handlers: {} }, undefined),
        );
    }
    runKernelsAtOnce(plan.log.kernels, frame);
    const byId = new Map(ranking.candidates.map((candidate) => [candidate.id, candidate]));
    const shown = request.ids.map((id) => byId.get(id));
    const isDrawn = ranking.candidates.some(({ propensity }) => propensity !== undefined);
    const schema = this.#schemas[ranking.pooled === true ? 'pooled' : isDrawn ? 'drawn' : 'plain'];
    this.#ledger.add(schema, { candidate: request.ids.length, change: 0 }, (writer) => {
      this.#write(writer, frame, ranking, request, shown, schema === this.#schemas.drawn);
    });
    releaseFrame(plan, frame, reports);
  }

  #write(
    writer: RecordWriter,
    frame: Frame,
    { request, time, owners }: ForeignRanking,
    { ids: candidateIds, entityIds }: RankingRequest,
    shown: readonly (ForeignCandidate | undefined)[],
    isDrawn: boolean,
  ): void {
    const ids = new HashedIds(this.#hasher);
    const { name: type } = this.#plan.candidateType;
    const count = candidateIds.length;
    const user = owners[USER];
    const named = new Set(Object.entries(owners).map(([owner, id]) => `${owner}=${ids.shown(owner, id)}`));
    for (const field of this.#plan.definition.request.fields.values()) {
      const id = field.kind === 'entity' ? entityIds.get(field.name) : undefined;
      if (field.kind === 'entity' && id !== undefined)
        named.add(`${field.entity}=${ids.shown(field.entity, id)}`);
    }
    writeFields(writer, RANKING_FIELDS.record, {
      request_id: request,
      run_id: undefined,
      time,
      status: 'ok',
      degraded: [],
      sent: count,
      left: count,
      page_start: 0,
      page_size: count,
      unit: user === undefined ? undefined : ids.shown(USER, user),
      entities: [...named],
      share: 1,
      ms: 0,
    });
    for (const { slot } of this.#values.record) this.#writeValue(writer, frame, slot, ids, 1);
    writeFields(writer, RANKING_FIELDS.candidate, {
      candidate_id: { values: candidateIds.map((id) => ids.shown(type, id)) },
      sent_at: { values: Int32Array.from(candidateIds.keys()) },
      place: { values: Int32Array.from(shown, (candidate, at) => candidate?.position ?? at + 1) },
      base_score: undefined,
      score: knownCells(shown, (candidate) => candidate?.score),
      removed_by: 0,
      weight: 1,
      on_page: 1,
    });
    if (isDrawn) {
      // A foreign log has one probability a place. It counts as both of those that Millrace logs.
      const drawn = knownCells(shown, (candidate) => candidate?.propensity);
      writeFields(writer, DRAWN_FIELDS, { propensity: drawn, marginal: drawn });
    }
    for (const { slot } of this.#values.candidate) this.#writeValue(writer, frame, slot, ids, count);
    const none = { values: [] };
    writeFields(writer, RANKING_FIELDS.change, {
      step: none,
      row: none,
      before: none,
      after: none,
      position: none,
    });
  }

  #writeValue(writer: RecordWriter, frame: Frame, slot: number, ids: HashedIds, count: number): void {
    const column = frame.columns[slot];
    if (column === undefined) throw new RangeError(`the frame has no column ${slot}`);
    const type = this.#plan.layout.columns[slot]?.idsOf;
    if (type !== undefined && this.#hasher.hides(type)) ids.write(writer, column, type, count, undefined);
    else writer.column(column);
  }
}

function knownCells(
  shown: readonly (ForeignCandidate | undefined)[],
  valueOf: (candidate: ForeignCandidate | undefined) => number | undefined,
): { readonly values: Float64Array; readonly statuses: Uint8Array } {
  const values = Float64Array.from(shown, (candidate) => valueOf(candidate) ?? NaN);
  const statuses = Uint8Array.from(values, (value) => (Number.isNaN(value) ? Status.absent : Status.present));
  return { values, statuses };
}

/** How often each kind of feedback is in a list of acts. */
export function countActs(acts: readonly ForeignAct[], counts: Map<string, number>): void {
  for (const { event } of acts) counts.set(event, (counts.get(event) ?? 0) + 1);
}
