import { Status } from '../../api/status.js';
import type { JsonObject, JsonValue, ValueType } from '../../api/types.js';
import type { NamedColumn, Plan } from '../../compile/plan.js';
import { MillraceError } from '../../api/errors.js';
import { Deadline } from '../../core/deadline.js';
import type { IdHasher } from '../../core/id-hasher.js';
import { atOnce } from '../../core/pieces.js';
import type { Frame } from '../../frame/frame.js';
import type { Ledger } from '../../ledger/ledger.js';
import { recordSchema, type RecordColumn, type RecordSchema } from '../../ledger/record-schema.js';
import type { RecordWriter } from '../../ledger/record-writer.js';
import { releaseFrame } from '../../pipeline/components/release-frame.js';
import { Ranking } from '../../pipeline/components/ranking.js';
import { runStep, type StepReport } from '../../pipeline/components/run-components.js';
import { fetchFeatures } from '../../pipeline/features/fetch-features.js';
import { BatchRead } from '../../pipeline/hydrate/batch-read.js';
import { hydrate } from '../../pipeline/hydrate/hydrate.js';
import { HashedIds } from '../../pipeline/log/hashed-cells.js';
import { loggedValues, rankingSchema } from '../../pipeline/log/ranking-schema.js';
import { openRequest } from '../../pipeline/request/open-request.js';
import type { PipelineServices } from '../../pipeline/run-pipeline.js';
import type {
  ForeignAct,
  ForeignCandidate,
  ForeignFeedback,
  ForeignRanking,
  RejectReason,
} from './foreign-event.js';

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
  /** Converts a text to the type that the pipeline declares for it. */
  readonly convert: (text: string, type: ValueType) => JsonValue;
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
  readonly #hasher: IdHasher;
  readonly #convert: ImportedRecordsOptions['convert'];
  readonly #values: Readonly<Record<'record' | 'candidate', readonly NamedColumn[]>>;
  readonly #schemas: Readonly<Record<'plain' | 'pooled', RecordSchema>>;
  readonly #feedbackSchemas = new Map<string, FeedbackSchema>();
  readonly #deadline = new Deadline(NO_LIMIT);
  readonly #received = Date.now();
  #now = 0;
  /** Candidates that are not in the store. */
  missing = 0;

  constructor({ plan, services, ledger, hasher, projectVersion, convert }: ImportedRecordsOptions) {
    this.#plan = plan;
    this.#services = { ...services, now: () => this.#now };
    this.#ledger = ledger;
    this.#hasher = hasher;
    this.#convert = convert;
    this.#values = loggedValues(plan);
    const meta = { imported: true, computed_at: 'import' };
    this.#schemas = {
      plain: rankingSchema(plan, projectVersion, meta),
      pooled: rankingSchema(plan, projectVersion, { ...meta, pooled: true }),
    };
  }

  /**
   * Records a ranking, and the feedback that its rows tell of.
   * @returns why it is not recorded
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
    const schema = this.#feedbackSchema(feedback);
    const ids = new HashedIds(this.#hasher);
    const { name: type } = this.#plan.candidateType;
    this.#ledger.add(schema.schema, { candidate: 0, change: 0 }, (writer) => {
      writer.text(feedback.request);
      writer.time(feedback.time);
      writer.time(this.#received);
      writer.text(feedback.event);
      writer.text(type);
      writer.text(ids.shown(type, feedback.candidate));
      writer.int32(feedback.quantity);
      writer.int32(feedback.position);
      writer.text('stored');
      writer.text(undefined);
      for (const owner of schema.owners) writer.text(ids.shown(owner, feedback.owners[owner] ?? ''));
      for (const { name, isNumber } of schema.values) {
        const value = feedback.values[name];
        if (isNumber) writer.float64(value as number);
        else writer.text(value as string);
      }
    });
  }

  close(): void {
    this.#deadline.end();
  }

  async #addComputed(ranking: ForeignRanking): Promise<void> {
    const plan = this.#plan;
    const { store, layouts, readers, now } = this.#services;
    const { request, frame } = atOnce(openRequest(plan, this.#bodyOf(ranking), ranking.request, now));
    const reads = { batch: new BatchRead(store, this.#deadline), layouts, resident: undefined, readers };
    await fetchFeatures(plan, frame, await hydrate(plan, frame, request, reads), reads);
    this.missing += reads.batch.missing.get(plan.candidateType.name) ?? 0;
    const steps = new Ranking(frame, plan.candidateType.name, request.ids);
    const reports: StepReport[] = [];
    for (const step of plan.steps) {
      for (const kernel of step.prepare) kernel(frame);
      // The order is that of the other system, and it showed all of these candidates: no filter and no rule runs.
      if (step.kind === 'feature' || step.kind === 'model')
        reports.push(await runStep(step, frame, steps, this.#deadline, () => undefined, undefined));
    }
    for (const kernel of plan.log.kernels) kernel(frame);
    const byId = new Map(ranking.candidates.map((candidate) => [candidate.id, candidate]));
    const shown = request.ids.map((id) => byId.get(id));
    const schema = ranking.pooled === true ? this.#schemas.pooled : this.#schemas.plain;
    this.#ledger.add(schema, { candidate: request.ids.length, change: 0 }, (writer) => {
      this.#write(writer, frame, ranking, request.ids, shown);
    });
    releaseFrame(plan, frame, reports);
  }

  #write(
    writer: RecordWriter,
    frame: Frame,
    { request, time, owners }: ForeignRanking,
    candidateIds: readonly string[],
    shown: readonly (ForeignCandidate | undefined)[],
  ): void {
    const ids = new HashedIds(this.#hasher);
    const { name: type } = this.#plan.candidateType;
    const count = candidateIds.length;
    const user = owners[USER];
    const entities = Object.entries(owners).map(([owner, id]) => `${owner}=${ids.shown(owner, id)}`);
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
    const scores = Float64Array.from(shown, (candidate) => candidate?.score ?? NaN);
    writer.float64(
      scores,
      Uint8Array.from(scores, (score) => (Number.isNaN(score) ? Status.absent : Status.present)),
    );
    writer.int32(0);
    writer.float64(1);
    writer.bool(1);
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

  /** The request that the pipeline would have got. Fields that it does not declare are left out. */
  #bodyOf({ request, owners, sent, candidates }: ForeignRanking): JsonObject {
    const { definition, candidateType, entities } = this.#plan;
    const body: Record<string, JsonValue> = { request_id: request };
    for (const field of definition.request.fields.values()) {
      const { name } = field;
      if (field.kind === 'scalar') {
        const value = sent[name];
        if (value !== undefined) body[name] = this.#fitted(value, field.type);
        continue;
      }
      const entity = entities.get(field.entity);
      const id = sent[name] ?? owners[name] ?? owners[field.entity];
      const attributes = Object.entries(sent).flatMap(([path, value]): [string, JsonValue][] => {
        const attribute = path.startsWith(`${name}.`) ? path.slice(name.length + 1) : undefined;
        const type = attribute === undefined ? undefined : entity?.attributes.get(attribute)?.type;
        return attribute === undefined
          ? []
          : [[attribute, type === undefined ? value : this.#fitted(value, type)]];
      });
      if (id !== undefined || attributes.length > 0)
        body[name] = {
          ...Object.fromEntries(attributes),
          ...(id === undefined ? {} : { [entity?.key ?? `${field.entity}_id`]: textOf(id) }),
        };
    }
    const typeOf = (name: string): ValueType | undefined =>
      (definition.request.candidates.get(name) ?? candidateType.attributes.get(name))?.type;
    body.candidates = candidates.map(({ id, carried }) => {
      const own: Record<string, JsonValue> = {};
      for (const [name, value] of Object.entries(carried)) {
        const type = typeOf(name);
        if (type !== undefined) own[name] = this.#fitted(value, type);
      }
      return { ...own, [candidateType.key]: id };
    });
    return body;
  }

  #fitted(value: JsonValue, type: ValueType): JsonValue {
    if (typeof value === 'string') return this.#convert(value, type);
    return type.kind === 'string' ? textOf(value) : value;
  }

  #feedbackSchema({ event, owners, values }: ForeignFeedback): FeedbackSchema {
    const ownerTypes = Object.keys(owners).sort();
    const valueTypes = Object.entries(values)
      .filter(([, value]) => typeof value === 'number' || typeof value === 'string')
      .map(([name, value]) => ({ name, isNumber: typeof value === 'number' }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const key = JSON.stringify([event, ownerTypes, valueTypes]);
    let known = this.#feedbackSchemas.get(key);
    if (known === undefined) {
      const schema = recordSchema(
        'feedback',
        [
          ...FEEDBACK_FIELDS,
          ...ownerTypes.map((name) => column(name, 'value', 'text', false)),
          ...valueTypes.map(({ name, isNumber }) =>
            column(name, 'value', isNumber ? 'float64' : 'text', true),
          ),
        ],
        { event, subject_type: this.#plan.candidateType.name, owners: ownerTypes, imported: true },
      );
      this.#feedbackSchemas.set(key, (known = { schema, owners: ownerTypes, values: valueTypes }));
    }
    return known;
  }
}

interface FeedbackSchema {
  readonly schema: RecordSchema;
  readonly owners: readonly string[];
  readonly values: readonly { readonly name: string; readonly isNumber: boolean }[];
}

function column(
  name: string,
  is: RecordColumn['is'],
  type: RecordColumn['type'],
  nullable: boolean,
): RecordColumn {
  return { name, is, rows: 'record', type, nullable };
}

/** The fields of a feedback record, in their order. */
const FEEDBACK_FIELDS: readonly RecordColumn[] = [
  column('request_id', 'field', 'text', true),
  column('time', 'field', 'time', false),
  column('received', 'field', 'time', false),
  column('event', 'field', 'text', false),
  column('subject_type', 'field', 'text', false),
  column('subject_id', 'field', 'text', false),
  column('quantity', 'field', 'int32', false),
  column('position', 'field', 'int32', true),
  column('outcome', 'field', 'text', false),
  column('attributed', 'field', 'text', true),
];

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** How often each kind of feedback is in a list of acts. */
export function countActs(acts: readonly ForeignAct[], counts: Map<string, number>): void {
  for (const { event } of acts) counts.set(event, (counts.get(event) ?? 0) + 1);
}
