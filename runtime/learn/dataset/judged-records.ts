import type { Plan } from '../../request/compile/plan.js';
import { PLAIN_IDS } from '../../ground/core/id-hasher.js';
import type { Ledger } from '../../state/ledger/ledger.js';
import { fieldColumns, writeFields, type Field } from '../../state/ledger/fields.js';
import { recordSchema, type RecordSchema } from '../../state/ledger/record-schema.js';
import { RankingLog } from '../../request/pipeline/log/ranking-log.js';
import type { PipelineServices } from '../../request/pipeline/pipeline-services.js';
import { answer } from '../../request/pipeline/run-pipeline.js';
import type { JudgedRequest } from '../tuning/judged-request.js';

/** The longest time limit that a timer can have. */
const NO_LIMIT = 2 ** 31 - 1;

/**
 * Runs a pipeline on judged queries, and leaves a ledger of them: a ranking with all candidates, whatever `log:` of the
 * pipeline says of them, and a record of feedback for each grade.
 */
export class JudgedRecords {
  readonly #plan: Plan;
  readonly #services: PipelineServices;
  readonly #ledger: Ledger;
  readonly #time: number;
  readonly #feedback: RecordSchema;
  readonly #grades = new Map<string, number>();

  constructor(plan: Plan, services: PipelineServices, ledger: Ledger, projectVersion: string) {
    const { definition } = plan;
    const log = {
      features: 'models' as const,
      ...definition.log,
      share: 1,
      unit: 'request',
      candidates: 'all' as const,
      sample: 0,
      hash: new Map<never, never>(),
      at: definition.candidateType.at,
    };
    const limits = { ...definition.limits, time: NO_LIMIT };
    this.#plan = { ...plan, phases: undefined, definition: { ...definition, log, limits } };
    this.#ledger = ledger;
    // All records have one time, so that no grade is later than its ranking.
    this.#time = services.now();
    const records = {
      ledger,
      hasherOf: () => PLAIN_IDS,
      projectVersion,
      onError: (error: unknown): never => {
        throw error;
      },
    };
    const rankings = RankingLog.of(this.#plan, records);
    this.#services = { ...services, now: () => this.#time, ...(rankings && { log: rankings }) };
    this.#feedback = recordSchema('feedback', fieldColumns(GRADE_FIELDS, 'record'), {
      subject_type: plan.candidateType.name,
      owners: [],
    });
  }

  /** The grade of each kind of feedback that was recorded. */
  get grades(): ReadonlyMap<string, number> {
    return this.#grades;
  }

  /** @throws MillraceError as a request to the pipeline */
  async add(query: string, { body, grades }: JudgedRequest): Promise<void> {
    await answer(this.#plan, this.#services, body, { requestId: query });
    // The record is made after the answer.
    await new Promise(setImmediate);
    for (const [id, grade] of grades) {
      if (Number.isNaN(grade)) continue;
      const event = `grade ${grade}`;
      this.#grades.set(event, grade);
      this.#ledger.add(this.#feedback, { candidate: 0, change: 0 }, (writer) => {
        writeFields(writer, GRADE_FIELDS, {
          request_id: query,
          time: this.#time,
          received: this.#time,
          event,
          subject_type: this.#plan.candidateType.name,
          subject_id: id,
        });
      });
    }
  }
}

const GRADE_FIELDS = [
  ['request_id', 'text'],
  ['time', 'time'],
  ['received', 'time'],
  ['event', 'text'],
  ['subject_type', 'text'],
  ['subject_id', 'text'],
] as const satisfies readonly Field[];
