import type { JsonObject } from '../../ground/api/types.js';
import type { EntitiesAnswer, UpdateAnswer, UploadAnswer } from '../../state/index/entity-index.js';
import type { OnlineAnswer } from '../../state/index/online-answer.js';
import type { Explanation } from '../../request/pipeline/explain/explanation.js';
import type { ExplainOptions } from '../../request/pipeline/types.js';
import type { PipelineAnswer } from '../../request/pipeline/answer-types.js';
import type { ExperimentState } from '../../request/experiments/experiment-states.js';
import type { ForgetAnswer } from '../../state/privacy/forget.js';
import type { InputRow } from '../../project/rows/rows.js';
import type { BatchShape } from './batches.js';
import type { Sent } from '../../state/index/send-batch.js';

/** What a command needs from a target: only storing data, or also running pipelines. */
export type TargetWork = 'data' | 'pipelines';

/** A page of stored records. */
export interface ScannedPage {
  readonly records: readonly JsonObject[];
  readonly unreadable: readonly string[];
  readonly changed: number;
  /** Undefined on the last page. */
  readonly cursor: string | undefined;
}

export interface RunAnswer {
  readonly answer: PipelineAnswer;
  /** The fields that were ignored and are nearly declared ones, as in the header `Millrace-Unknown-Fields`. */
  readonly misspelt: string;
}

/** Where data commands send their data: the store of the settings, or a running service. */
export interface DataTarget {
  /** The name of the target, for messages. */
  readonly name: string;
  readonly batches: BatchShape;
  /** How many values of the stored rows were converted to their declared types, with accept: lax. */
  readonly coerced: number;
  /** Stores whole entities. @throws MillraceError; after invalid_body nothing is stored */
  upload(
    entityType: string,
    entityKey: string | undefined,
    rows: readonly InputRow[],
  ): Promise<Pick<UploadAnswer, 'entity_ids' | 'duplicates'>>;
  /**
   * Replaces the attributes that each row has, and removes those that are null.
   * @param create whether entities that the index does not have are created
   * @throws as `upload`
   */
  update(
    entityType: string,
    entityKey: string | undefined,
    rows: readonly InputRow[],
    create: boolean,
  ): Promise<Pick<UpdateAnswer, 'entity_ids' | 'unknown_ids'>>;
  /** Stores feature rows. @throws MillraceError */
  push(view: string, rows: readonly InputRow[]): Promise<Sent>;
  /** Deletes feature rows. Each has the keys of the view and optionally an event time. @throws MillraceError */
  deleteRows(view: string, rows: readonly InputRow[]): Promise<Sent>;
  /** Reads at most 1000 entities; null for ids that are not in the index. @throws MillraceError */
  getEntities(entityType: string, ids: readonly string[]): Promise<EntitiesAnswer['entities']>;
  /** Deletes at most 1000 entities. @throws MillraceError */
  deleteEntities(entityType: string, ids: readonly string[]): Promise<void>;
  /** Reads features as a ranking does; the body is that of get-online-features. @throws MillraceError */
  onlineFeatures(body: object): Promise<OnlineAnswer>;
  /** Reads a page of entities. @throws MillraceError; invalid_body at `/cursor` if the scan must start again */
  scanEntities(entityType: string, cursor: string | undefined): Promise<ScannedPage>;
  /** Reads a page of feature rows. @throws as `scanEntities` */
  scanFeatures(view: string, cursor: string | undefined): Promise<ScannedPage>;
  /** Forgets entities; see `Forget.run`. @throws MillraceError */
  forget(entityType: string, ids: readonly string[], cursor: string | null): Promise<ForgetAnswer>;
  /** The experiments of the project. @throws MillraceError */
  experiments(): Promise<{ readonly experiments: readonly ExperimentState[] }>;
  /** Stops or resumes an experiment on all instances. @throws MillraceError */
  changeExperiment(verb: 'stop' | 'resume', name: string): Promise<ExperimentState>;
  /** Returns the answer of the pipeline's route. @throws MillraceError */
  run(pipeline: string, body: unknown): Promise<RunAnswer>;
  /** Explains the answer to the request. @throws MillraceError */
  explain(pipeline: string, body: unknown, options?: ExplainOptions): Promise<Explanation>;
  close(): Promise<void>;
}

/** The number of records of a page that commands request. */
const PAGE_RECORDS = 500;

/** The paging fields of a scan request. */
export function pageOf(cursor: string | undefined): { readonly cursor?: string; readonly limit: number } {
  return { limit: PAGE_RECORDS, ...(cursor === undefined ? {} : { cursor }) };
}
