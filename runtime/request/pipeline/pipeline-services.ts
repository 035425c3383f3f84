import type { JsonObject } from '../../ground/api/types.js';
import type { Plan } from '../compile/plan.js';
import type { IdHasher } from '../../ground/core/id-hasher.js';
import type { Usage } from '../../ground/core/usage.js';
import type { RetrieverReport } from './request/retrieval-report.js';
import type { Choice } from '../experiments/live-experiments.js';
import type { SharedRun } from '../experiments/shared-run.js';
import type { DecodedHistories } from '../resident/decoded-histories.js';
import type { ResidentTables } from '../resident/resident-tables.js';
import type { LayoutRegistry } from '../../state/store/layout-registry.js';
import type { Store } from '../../state/store/store.js';
import type { PipelineAnswer } from './answer-types.js';
import type { StepHandlers } from './components/run-components.js';
import type { FinishedRun } from './explain/finished-run.js';
import type { Explanation } from './explain/explanation.js';
import type { SourceReaders } from './hydrate/source-cells.js';
import type { RankingLog } from './log/ranking-log.js';
import type { IndexSearch } from './request/index-candidates.js';
import type { MisspeltFields } from './request/misspelt-fields.js';
import type { RequestContext, RunReport } from './types.js';

/** What runs the plan of a pipeline. */
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
  readonly index?: Pick<IndexSearch, 'filters' | 'columns' | 'most'>;
  /** Hears what became of the retrievers of a request, also if the request then fails. */
  readonly onRetrieved?: ((reports: readonly RetrieverReport[]) => void) | undefined;
  /** How long feedback events count, in milliseconds; by default without end. */
  readonly historyRetention?: number;
  /** By default no history outlives its request, and the code of a kind of feedback is its number in the plan. */
  readonly histories?: DecodedHistories;
  /** Replaces ids in events; by default it replaces none. */
  readonly hasher?: IdHasher;
  /** The secret of the rule `explore`; without it, nothing is drawn. */
  readonly exploreSalt?: string;
  /** Where the requests are recorded; by default nowhere. */
  readonly log?: RankingLog;
  /** The experiments of the pipeline; undefined if it has none. */
  readonly experiments?: PipelineExperiments | undefined;
  /** Finds misspelt fields of bodies; by default they are only counted. */
  readonly misspelt?: MisspeltFields | undefined;
  /** Whether values of bodies are converted to the declared types; by default they are only checked. */
  readonly isLax?: boolean;
  /** Counts requests, and the work that they leave behind. */
  readonly usage?: Usage;
  /** Sees an explained request before its frame is released, instead of an explanation. */
  readonly observe?: (run: FinishedRun) => void;
}

/** The experiments of a mounted pipeline. */
export interface PipelineExperiments {
  choose(
    ids: ReadonlyMap<string, string>,
    values: JsonObject | undefined,
    now: number,
    context: RequestContext,
  ): Choice | undefined;
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
