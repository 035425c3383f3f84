import { Status } from '../../../ground/api/status.js';
import type { NamedColumn, Plan } from '../../../request/compile/plan.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { Deadline } from '../../../ground/core/deadline.js';
import type { IdHasher } from '../../../ground/core/id-hasher.js';
import { atOnce } from '../../../ground/core/pieces.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { Ledger } from '../../../state/ledger/ledger.js';
import { recordSchema, type RecordColumn, type RecordSchema } from '../../../state/ledger/record-schema.js';
import type { RecordWriter } from '../../../state/ledger/record-writer.js';
import { releaseFrame } from '../../../request/pipeline/components/release-frame.js';
import { Ranking } from '../../../request/pipeline/components/ranking.js';
import { runStep, type StepReport } from '../../../request/pipeline/components/run-components.js';
import { fetchFeatures } from '../../../request/pipeline/features/fetch-features.js';
import { BatchRead } from '../../../request/pipeline/hydrate/batch-read.js';
import { hydrate } from '../../../request/pipeline/hydrate/hydrate.js';
import { HashedIds } from '../../../request/pipeline/log/hashed-cells.js';
import { loggedValues, rankingSchema } from '../../../request/pipeline/log/ranking-schema.js';
import { openRequest } from '../../../request/pipeline/request/open-request.js';
import type { RankingRequest } from '../../../request/pipeline/request/read-request.js';
import type { PipelineServices } from '../../../request/pipeline/run-pipeline.js';
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
    const plain = rankingSchema(plan, projectVersion, meta);
    this.#schemas = {
      plain,
      drawn: withDraws(plain),
      pooled: rankingSchema(plan, projectVersion, { ...meta, pooled: true }),
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
        reports.push(await runStep(step, frame, steps, this.#deadline, {}, undefined));
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
    const entities = [...named];
    writer.text(request);
    writer.text(undefined);
    writer.time(time);
    writer.text('ok');
    writer.texts({ values: [], offsets: [0, 0] });
    writer.int32(count);
    writer.int32(count);
    writer.int32(0);
    writer.int32(count);
    writer.text(user === undefined ? undefined : ids.shown(USER, user));
    writer.texts({ values: entities, offsets: [0, entities.length] });
    writer.float64(1);
    writer.float64(0);
    for (const { slot } of this.#values.record) this.#writeValue(writer, frame, slot, ids, 1);
    writer.text(candidateIds.map((id) => ids.shown(type, id)));
    writer.int32(Int32Array.from(candidateIds.keys()));
    writer.int32(Int32Array.from(shown, (candidate, at) => candidate?.position ?? at + 1));
    writer.float64(undefined);
    writeKnown(writer, shown, (candidate) => candidate?.score);
    writer.int32(0);
    writer.float64(1);
    writer.bool(1);
    // A foreign log has one probability a place. It counts as both of those that Millrace logs.
    if (isDrawn) DRAWS.forEach(() => writeKnown(writer, shown, (candidate) => candidate?.propensity));
    for (const { slot } of this.#values.candidate) this.#writeValue(writer, frame, slot, ids, count);
    writer.int32([]);
    writer.int32([]);
    writer.float64([]);
    writer.float64([]);
    writer.int32([]);
  }

  #writeValue(writer: RecordWriter, frame: Frame, slot: number, ids: HashedIds, count: number): void {
    const column = frame.columns[slot];
    if (column === undefined) throw new RangeError(`the frame has no column ${slot}`);
    const type = this.#plan.layout.columns[slot]?.idsOf;
    if (type !== undefined && this.#hasher.hides(type)) ids.write(writer, column, type, count, undefined);
    else writer.column(column);
  }
}

/** The columns of a log that knows how its places were drawn (runtime/state/ledger/experiment-columns.ts). */
const DRAWS: readonly RecordColumn[] = ['propensity', 'marginal'].map((name) => ({
  name,
  is: 'field',
  rows: 'candidate',
  type: 'float64',
  nullable: true,
}));

/** The same schema with the probabilities of the draws after the other fields of a candidate. */
function withDraws({ kind, columns, meta }: RecordSchema): RecordSchema {
  const after = columns.findIndex(({ name, is }) => is === 'field' && name === 'on_page') + 1;
  return recordSchema(kind, [...columns.slice(0, after), ...DRAWS, ...columns.slice(after)], meta);
}

function writeKnown(
  writer: RecordWriter,
  shown: readonly (ForeignCandidate | undefined)[],
  valueOf: (candidate: ForeignCandidate | undefined) => number | undefined,
): void {
  const values = Float64Array.from(shown, (candidate) => valueOf(candidate) ?? NaN);
  writer.float64(
    values,
    Uint8Array.from(values, (value) => (Number.isNaN(value) ? Status.absent : Status.present)),
  );
}

/** How often each kind of feedback is in a list of acts. */
export function countActs(acts: readonly ForeignAct[], counts: Map<string, number>): void {
  for (const { event } of acts) counts.set(event, (counts.get(event) ?? 0) + 1);
}
