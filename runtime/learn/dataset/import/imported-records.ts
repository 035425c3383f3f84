import { Status } from '../../../ground/api/status.js';
import type { NamedColumn, Plan } from '../../../request/compile/plan.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { Deadline } from '../../../ground/core/deadline.js';
import type { IdHasher } from '../../../ground/core/id-hasher.js';
import { atOnce } from '../../../ground/core/pieces.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { Ledger } from '../../../state/ledger/ledger.js';
import { DRAWN_FIELDS } from '../../../state/ledger/experiment-columns.js';
import { unknownFields, writeFields } from '../../../state/ledger/fields.js';
import { RANKING_FIELDS } from '../../../state/ledger/ranking-fields.js';
import type { RecordSchema } from '../../../state/ledger/record-schema.js';
import type { RecordWriter } from '../../../state/ledger/record-writer.js';
import { releaseFrame } from '../../../request/pipeline/log/leave-record.js';
import { Ranking } from '../../../request/ordering/ranking.js';
import { runStep, type StepReport } from '../../../request/pipeline/components/run-components.js';
import { fetchFeatures } from '../../../request/pipeline/features/fetch-features.js';
import { BatchRead } from '../../../request/pipeline/hydrate/batch-read.js';
import { hydrate } from '../../../request/pipeline/hydrate/hydrate.js';
import { HashedIds } from '../../../request/pipeline/log/hashed-cells.js';
import { loggedValues, rankingSchema } from '../../../request/pipeline/log/ranking-schema.js';
import { relaxed } from '../../../request/pipeline/request/lax-body.js';
import { openRequest } from '../../../request/pipeline/request/open-request.js';
import type { RankingRequest } from '../../../request/pipeline/request/read-request.js';
import type { PipelineServices } from '../../../request/pipeline/pipeline-services.js';
import type {
  ForeignCandidate,
  ForeignFeedback,
  ForeignRanking,
  RejectReason,
} from '../../../project/foreign/foreign-event.js';
import { requestBody, type ConvertText } from './foreign-request.js';
import { ImportedFeedback } from './imported-feedback.js';
import { TodaysInputs, type KnownInTime, type TodaysValues } from './todays-values.js';
import { runKernelsAtOnce } from '../../../language/expression/run-kernels.js';

/** The longest time limit that a timer can have. */
const NO_LIMIT = 2 ** 31 - 1;
/** What no foreign log has. */
const UNKNOWN = {
  record: unknownFields(RANKING_FIELDS.record),
  candidate: unknownFields(RANKING_FIELDS.candidate),
};
/** The kind of feedback that a user gives: the unit of a ranking. */
const USER = 'user';

export interface ImportedRecordsOptions {
  readonly plan: Plan;
  readonly services: PipelineServices;
  readonly ledger: Ledger;
  readonly hasher: IdHasher;
  readonly projectVersion: string;
  readonly convert: ConvertText;
  readonly known: KnownInTime;
}

export interface Refused {
  readonly reason: RejectReason;
  readonly detail: string;
}

interface ShownRequest extends RankingRequest {
  /** By the position in `ids`. */
  readonly shown: readonly (ForeignCandidate | undefined)[];
  /** Whether the log has probabilities. */
  readonly isDrawn: boolean;
}

/** The fields of a ranking's candidates that differ between logs. */
type RankingForm = 'plain' | 'pooled' | 'drawn';

/**
 * Makes records of foreign rankings and feedback. The values that the pipeline logs are computed by its plan, from what the
 * store holds and from what the log says of the request. The clock of the services shows the time of the request.
 */
export class ImportedRecords {
  readonly #plan: Plan;
  readonly #services: PipelineServices;
  readonly #ledger: Ledger;
  readonly #feedback: ImportedFeedback;
  readonly #hasher: IdHasher;
  readonly #convert: ConvertText;
  readonly #values: Readonly<Record<'record' | 'candidate', readonly NamedColumn[]>>;
  readonly #projectVersion: string;
  readonly #inputs: TodaysInputs;
  readonly #schemas = new Map<TodaysValues, Map<RankingForm, RecordSchema>>();
  readonly #deadline = new Deadline(NO_LIMIT);
  /** Candidates that are not in the store. */
  missing = 0;

  constructor({ plan, services, ledger, hasher, projectVersion, convert, known }: ImportedRecordsOptions) {
    this.#plan = plan;
    this.#services = services;
    this.#ledger = ledger;
    this.#feedback = new ImportedFeedback(plan.candidateType.name, ledger, hasher);
    this.#hasher = hasher;
    this.#convert = convert;
    this.#values = loggedValues(plan);
    this.#projectVersion = projectVersion;
    this.#inputs = new TodaysInputs(plan, known);
  }

  /**
   * Records a ranking without the acts on its candidates.
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
    try {
      await this.#addComputed(ranking);
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'invalid_body') throw error;
      const [violation] = error.violations;
      const where = violation === undefined || violation.pointer === '' ? '' : `${violation.pointer}: `;
      return { reason: 'bad_request', detail: where + (violation?.detail ?? error.message) };
    }
    return undefined;
  }

  addFeedback(feedback: ForeignFeedback): void {
    this.#feedback.add(feedback);
  }

  /** The logged values that depend on what is known only today, in a ranking that was added. */
  get today(): readonly string[] {
    return [...new Set([...this.#schemas.keys()].flatMap((today) => Object.keys(today)))];
  }

  close(): void {
    this.#deadline.end();
  }

  async #addComputed(ranking: ForeignRanking): Promise<void> {
    const plan = this.#plan;
    const { store, layouts, readers, now, isLax } = this.#services;
    const body = relaxed(plan, requestBody(plan, ranking, this.#convert), isLax);
    const { request, frame } = atOnce(openRequest(plan, body, now, { requestId: ranking.request }));
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
      else if (step.when === undefined) runKernelsAtOnce(step.inputs, frame);
    }
    runKernelsAtOnce(plan.log.kernels, frame);
    const byId = new Map(ranking.candidates.map((candidate) => [candidate.id, candidate]));
    const shown = request.ids.map((id) => byId.get(id));
    const isDrawn = ranking.candidates.some(({ propensity }) => propensity !== undefined);
    const form = ranking.pooled === true ? 'pooled' : isDrawn ? 'drawn' : 'plain';
    const schema = this.#schemaOf(form, this.#inputs.of(ranking));
    this.#ledger.add(schema, { candidate: request.ids.length, change: 0 }, (writer) => {
      this.#write(writer, frame, ranking, { ...request, shown, isDrawn: form === 'drawn' });
    });
    releaseFrame(plan, frame, reports);
  }

  #schemaOf(form: RankingForm, today: TodaysValues): RecordSchema {
    const forms = this.#schemas.get(today) ?? new Map<RankingForm, RecordSchema>();
    this.#schemas.set(today, forms);
    let schema = forms.get(form);
    if (schema === undefined) {
      const meta = { imported: true, today, ...(form === 'pooled' ? { pooled: true } : {}) };
      const more = form === 'drawn' ? { candidate: DRAWN_FIELDS } : {};
      schema = rankingSchema(this.#plan, this.#projectVersion, { meta, ...more });
      forms.set(form, schema);
    }
    return schema;
  }

  #write(
    writer: RecordWriter,
    frame: Frame,
    { request, time, owners }: ForeignRanking,
    { ids: candidateIds, entityIds, shown, isDrawn }: ShownRequest,
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
      ...UNKNOWN.record,
      request_id: request,
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
      ...UNKNOWN.candidate,
      candidate_id: { values: candidateIds.map((id) => ids.shown(type, id)) },
      sent_at: { values: Int32Array.from(candidateIds.keys()) },
      place: { values: Int32Array.from(shown, (candidate, at) => candidate?.position ?? at + 1) },
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
