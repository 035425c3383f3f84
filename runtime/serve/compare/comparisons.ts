import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CompiledRules } from '../../state/curation/curation-lists.js';
import type { Logger } from 'pino';
import { MillraceError } from '../../ground/api/errors.js';
import { readBody } from '../../ground/core/body-fields.js';
import { describeError } from '../../ground/core/describe-error.js';
import type { Usage } from '../../ground/core/usage.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { isLive } from '../../project/config/model/experiment-modes.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import type { Settings } from '../../project/settings/settings.js';
import type { JudgedPipeline } from '../../request/pipeline/types.js';
import type { CampaignChange } from '../../state/curation/draft-records.js';
import type { Cards } from '../../state/index/cards.js';
import type { EntityIndex } from '../../state/index/entity-index.js';
import type { KeepBody, KeptTest, LoggedRanking } from './workshop-answers.js';
import {
  ID_BODY,
  readRequest,
  type ComparedNames,
  type ComparisonAnswer,
  type ComparisonList,
  type ComparisonRequest,
  type ComparisonState,
} from './comparison.js';

/** One runs at a time. The most that wait, and the most that are kept after they ended. */
const MOST_WAITING = 5;
const MOST_KEPT = 10;
/** The longest run, milliseconds. */
const WITHIN_MS = 10 * 60_000;
/** The largest file of judgments, bytes. It is held in memory. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_NOTES = 20;
const FOLDER = 'judgments';
/** Compressed files are left out, because their size does not bound their content. */
const JUDGMENT_FILE =
  /^[^.].*\.(?:csv|tsv|jsonl|ndjson|json|parquet|qrels?|qrels?\.txt|libsvm|svm|letor|txt)$/i;

/** The project that a comparison uses. */
export interface ComparedProject {
  readonly settings: Settings;
  readonly config: ProjectConfig;
  /** Without experiments: an arm is a pipeline of its own. */
  readonly pipelines: readonly JudgedPipeline[];
  readonly entities: Pick<EntityIndex, 'get'>;
  readonly cards: Pick<Cards, 'orNone'>;
  readonly usage: Usage;
  readonly drafts: {
    /** @returns what a request to the pipelines has as `rules` */
    preview(draft: string): Promise<CompiledRules>;
    /** By list and campaign. */
    changes(
      draft: string,
    ): Promise<ReadonlyMap<string, Readonly<Record<string, Pick<CampaignChange, 'after'>>>>>;
  };
  /** What everybody should know who reads a result. */
  readonly notes?: readonly string[];
}

/** What a running comparison needs, and where it reports its progress. */
export interface ComparisonRun {
  readonly project: ComparedProject;
  readonly request: ComparisonRequest;
  readonly signal: AbortSignal;
  /** @param share from 0 to 1 */
  readonly progress: (share: number) => void;
  readonly note: (text: string) => void;
}

export type Compared = Pick<ComparisonAnswer, 'report' | 'result'>;

/** The code that compares. A service that ranks does not load it. */
export interface Comparer {
  /** @throws MillraceError invalid_body with the place of a mistake in the metrics or conditions */
  check(request: ComparisonRequest): void;
  /** @throws UsageError, CommandFailure, InputError, MillraceError */
  run(run: ComparisonRun): Promise<Compared>;
  /** A logged request, with its values. @throws MillraceError unknown_logged_request */
  readonly logged: (
    work: WorkshopWork,
    requestId: string,
    pipeline: string | undefined,
  ) => Promise<LoggedRanking>;
  /** A ranking as a test, which it has run. @throws MillraceError test_not_kept, or what the ranking throws */
  readonly keep: (work: WorkshopWork, wanted: KeepBody) => Promise<KeptTest>;
}
export type LoadComparer = () => Promise<{ readonly comparer: Comparer }>;

/** What looks at one ranking needs. */
export interface WorkshopWork {
  readonly project: ComparedProject;
  /** Ends a read of the ledger. */
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/** Who sends the request. */
export interface Asking {
  readonly name: string | undefined;
  /** The pipelines that a key may use; undefined: all. */
  readonly pipelines: readonly string[] | undefined;
  /** Whether the key has the scope `preview`, without which drafts are not shown. */
  readonly mayPreview: boolean;
}

interface Job {
  state: ComparisonState;
  readonly project: ComparedProject;
  readonly stop: AbortController;
  readonly found: { compared?: Compared };
}

/**
 * Comparisons of pipelines, as jobs of the process of the workbench: one at a time, bounded in number, memory and time. The
 * code that compares is loaded with the first of them.
 */
export class Comparisons {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #jobs = new Map<string, Job>();
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** @param load loads the code with the first comparison */
  constructor(
    logger: Logger,
    now: () => number,
    readonly load: LoadComparer,
  ) {
    this.#logger = logger;
    this.#now = now;
  }

  async list(project: ComparedProject, who: Asking): Promise<ComparisonList> {
    const seen = [...this.#jobs.values()].filter((job) => mayUse(job.state.request, who) === undefined);
    return { ...(await namesOf(project)), comparisons: seen.map(({ state }) => state).reverse() };
  }

  /** @throws MillraceError invalid_body, key_not_allowed, scope_missing, unknown_draft, comparisons_full */
  async start(project: ComparedProject, body: unknown, who: Asking): Promise<ComparisonState> {
    const request = readRequest(body, await namesOf(project));
    const refused = mayUse(request, who);
    if (refused !== undefined) throw refused;
    if (request.draft !== undefined) await project.drafts.changes(request.draft);
    const { comparer } = await this.load();
    comparer.check(request);
    // There is no await below, so no other comparison is added between this check and the end of the function.
    const waiting = [...this.#jobs.values()].filter(({ state }) => state.state === 'waiting');
    if (waiting.length >= MOST_WAITING || this.#isClosed)
      throw new MillraceError('comparisons_full', `${MOST_WAITING} comparisons wait already`);
    const id = randomUUID().slice(0, 8);
    const state: ComparisonState = {
      comparison: id,
      state: 'waiting',
      request,
      author: who.name ?? null,
      at: new Date(this.#now()).toISOString(),
      progress: null,
      notes: project.notes ?? [],
      problem: null,
    };
    project.usage.begin();
    this.#jobs.set(id, { state, project, stop: new AbortController(), found: {} });
    this.#next();
    return this.#jobOf(id).state;
  }

  /** @throws MillraceError unknown_comparison */
  get(body: unknown, who: Asking): ComparisonAnswer {
    const { state, found } = this.#asked(body, who);
    return { ...state, report: found.compared?.report ?? null, result: found.compared?.result ?? null };
  }

  /** Stops a comparison before its next request, or portion of a file. @throws MillraceError unknown_comparison */
  stop(body: unknown, who: Asking): ComparisonState {
    const job = this.#asked(body, who);
    if (job.state.state === 'waiting') this.#end(job, { state: 'stopped' });
    job.stop.abort();
    return job.state;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#jobs.values()) {
      if (job.state.state === 'waiting') this.#end(job, { state: 'stopped' });
      job.stop.abort();
    }
    await this.#running;
  }

  #asked(body: unknown, who: Asking): Job {
    const { comparison } = readBody(body, ID_BODY, 'the request');
    const job = this.#jobs.get(comparison);
    if (job === undefined || mayUse(job.state.request, who) !== undefined)
      throw new MillraceError(
        'unknown_comparison',
        `there is no comparison ${comparison.slice(0, 40)}; the last ${MOST_KEPT} are kept until the process ends`,
      );
    return job;
  }

  #jobOf(id: string): Job {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new Error(`there is no comparison ${id}`);
    return job;
  }

  #change(job: Job, change: Partial<ComparisonState>): void {
    job.state = { ...job.state, ...change };
  }

  /** Each comparison ends once. */
  #end(job: Job, change: Partial<ComparisonState>): void {
    this.#change(job, change);
    job.project.usage.end();
    const ended = [...this.#jobs].filter(([, { state }]) => !['waiting', 'running'].includes(state.state));
    for (const [id] of ended.slice(0, Math.max(0, ended.length - MOST_KEPT))) this.#jobs.delete(id);
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const job = [...this.#jobs.values()].find(({ state }) => state.state === 'waiting');
    if (job === undefined) return;
    this.#change(job, { state: 'running' });
    this.#running = this.#run(job).finally(() => {
      this.#running = undefined;
      this.#next();
    });
  }

  async #run(job: Job): Promise<void> {
    const { project, stop, found } = job;
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(WITHIN_MS)]);
    try {
      const { comparer } = await this.load();
      found.compared = await comparer.run({
        project,
        request: job.state.request,
        signal,
        progress: (share) => this.#change(job, { progress: Math.min(1, share) }),
        note: (text) => {
          const { notes } = job.state;
          if (notes.length < MOST_NOTES)
            this.#change(job, { notes: [...notes, withoutPaths(text, project)] });
        },
      });
      this.#end(job, { state: 'done', progress: 1 });
    } catch (error) {
      if (stop.signal.aborted) this.#end(job, { state: 'stopped' });
      else {
        const problem = signal.aborted
          ? `it takes longer than ${WITHIN_MS / 60_000} minutes`
          : this.#problem(error, project);
        this.#end(job, { state: 'failed', problem });
      }
    }
  }

  #problem(error: unknown, project: ComparedProject): string {
    if (error instanceof CommandFailure && error.help !== undefined)
      return withoutPaths(`${error.message}; ${error.help}`, project);
    // Others are faults of the program, and may quote anything.
    if (error instanceof CommandFailure || error instanceof UsageError || error instanceof MillraceError)
      return withoutPaths(error.message, project);
    this.#logger.error({ error: describeError(error) }, 'a comparison failed');
    return 'an error of the service; its log says which';
  }
}

/** Removes paths of the machine, which users of the workbench need not know. */
function withoutPaths(text: string, { settings: { ledgerDir, project } }: ComparedProject): string {
  return text.replaceAll(ledgerDir, 'the ledger').replaceAll(`${project}/`, '');
}

/** Why a key may not ask for a comparison; a key with a list of pipelines reads no experiments. */
function mayUse(
  { pipeline, against, experiment, draft }: ComparisonRequest,
  { pipelines, mayPreview }: Asking,
): MillraceError | undefined {
  if (draft !== undefined && !mayPreview)
    return new MillraceError('scope_missing', 'the field draft: the key lacks the scope preview');
  if (pipelines === undefined) return undefined;
  const refused =
    experiment === undefined
      ? [pipeline, against].find((one) => one !== undefined && !pipelines.includes(one))
      : `of ${experiment}`;
  return refused === undefined
    ? undefined
    : new MillraceError('key_not_allowed', `the key may not use the pipeline ${refused}`);
}

async function namesOf({ settings, config }: ComparedProject): Promise<ComparedNames> {
  const entries = await readdir(join(settings.project, FOLDER), { withFileTypes: true }).catch(() => []);
  return {
    pipelines: config.pipelines.filter(({ task }) => task === 'rank').map(({ name }) => name),
    judgments: entries
      .flatMap((one) => (one.isFile() && JUDGMENT_FILE.test(one.name) ? [one.name] : []))
      .sort(),
    experiments: config.experiments.flatMap((one) =>
      isLive(one) && one.metrics !== undefined ? [one.name] : [],
    ),
  };
}

/** The path of a file of judgments. @param name one of the names of the folder @throws CommandFailure if it is too large */
export async function judgmentsPath({ settings }: ComparedProject, name: string): Promise<string> {
  const path = join(settings.project, FOLDER, name);
  const { size } = await stat(path);
  if (size > MOST_BYTES)
    throw new CommandFailure(
      `${name} has ${size} bytes, and a comparison of the workbench reads at most ${MOST_BYTES}`,
      'compare with `millrace evaluate`',
    );
  return path;
}
