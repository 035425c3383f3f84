import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { overlapAt } from '../../../ground/core/compare-rankings.js';
import { describeError } from '../../../ground/core/describe-error.js';
import { mean } from '../../../ground/core/statistics.js';
import type { Admission } from '../../http/admission/admission.js';
import type { AnsweredRanking } from '../../http/services.js';
import { idsOf, rankBoth } from './compare-generations.js';
import type { Generation } from './generation.js';
import { LoopDelay } from './loop-delay.js';

/** So many requests of a pipeline are compared first, and as many make up its agreement. */
const FIRST = 50;
/** The share of later requests that is compared. */
const LATER = 0.01;
/** With fewer comparisons, an agreement says little. */
const LEAST = 10;
/** Places that are compared, at most. */
const DEPTH = 10;
/** Requests that wait; more are not compared. */
const MOST_WAITING = 8;
/** A comparison is followed by so many times the time that it took: comparisons take at most 5 % of a CPU. */
const PAUSES = 19;
/** Nothing is compared while timers run so late, in milliseconds. */
const BUSY_LATE_MS = 20;

export interface AgreementParts {
  readonly admission: Pick<Admission, 'waiting'>;
  readonly logger: Logger;
  /** How long a new model is compared, in milliseconds; 0: never. */
  readonly forMs: number;
  /** Called when a comparison begins or ends. */
  readonly changed: () => void;
}

/** What became of the requests that were chosen. `busy`: not compared, since the process had other work. */
export interface ComparisonCounts {
  readonly compared: number;
  readonly failed: number;
  readonly busy: number;
}

interface Trial {
  readonly before: Generation;
  readonly next: Generation;
  readonly delay: LoopDelay;
  readonly timer: NodeJS.Timeout;
  /** By pipeline: how many requests were chosen, and the last agreements. */
  readonly pipelines: ReadonlyMap<string, { chosen: number; readonly last: number[] }>;
  readonly waiting: (AnsweredRanking & { readonly pipeline: string })[];
  isRunning: boolean;
  readonly stop: AbortController;
  readonly end: () => void;
}

/**
 * Compares a new model with the one before it on requests that were answered: the first ones, and then a sample. Answers do
 * not wait for it. It records nothing and runs no effects.
 */
export class ModelAgreement {
  readonly #parts: AgreementParts;
  #trial: Trial | undefined;
  #counts: ComparisonCounts = { compared: 0, failed: 0, busy: 0 };

  constructor(parts: AgreementParts) {
    this.#parts = parts;
  }

  /** Whether a new model is compared now. */
  get isRunning(): boolean {
    return this.#trial !== undefined;
  }

  get counts(): ComparisonCounts {
    return this.#counts;
  }

  /** The agreement of each pipeline with enough comparisons, see `agreementOf`. */
  values(): { readonly pipeline: string; readonly agreement: number }[] {
    return [...(this.#trial?.pipelines ?? [])].flatMap(([pipeline, { last }]) =>
      last.length < LEAST ? [] : [{ pipeline, agreement: mean(last) }],
    );
  }

  /**
   * Begins to compare a generation that serves from now on. A comparison that runs ends.
   * @returns resolves when the generation before may be closed; at once if no model changed
   */
  begin(before: Generation, next: Generation): Promise<void> {
    this.end();
    const changed = this.#parts.forMs === 0 || next.release !== undefined ? [] : changedModels(before, next);
    if (changed.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const delay = new LoopDelay();
      this.#trial = {
        ...{ before, next, delay, waiting: [], isRunning: false, stop: new AbortController() },
        timer: setTimeout(() => this.end(), this.#parts.forMs).unref(),
        pipelines: new Map(changed.map((name) => [name, { chosen: 0, last: [] }])),
        end: resolve,
      };
      this.#parts.changed();
    });
  }

  end(): void {
    const trial = this.#trial;
    if (trial === undefined) return;
    this.#trial = undefined;
    this.#parts.changed();
    clearTimeout(trial.timer);
    trial.delay.close();
    trial.stop.abort();
    trial.waiting.length = 0;
    trial.end();
  }

  /** Chooses whether a request is compared. @returns takes the request when it is answered */
  choose(pipeline: string): ((answered: AnsweredRanking) => void) | undefined {
    const trial = this.#trial;
    const own = trial?.pipelines.get(pipeline);
    if (trial === undefined || own === undefined) return undefined;
    if (own.chosen >= FIRST && Math.random() >= LATER) return undefined;
    return (answered) => {
      if (trial !== this.#trial) return;
      if (trial.waiting.length >= MOST_WAITING || this.#isBusy(trial)) {
        this.#count('busy');
        return;
      }
      own.chosen++;
      trial.waiting.push({ ...answered, pipeline });
      if (!trial.isRunning) void this.#run(trial);
    };
  }

  async #run(trial: Trial): Promise<void> {
    trial.isRunning = true;
    try {
      for (let one = trial.waiting.shift(); one !== undefined; one = trial.waiting.shift()) {
        const began = performance.now();
        if (this.#isBusy(trial)) this.#skip(trial, one.pipeline);
        else await this.#compare(trial, one);
        await pause(PAUSES * (performance.now() - began), undefined, {
          ref: false,
          signal: trial.stop.signal,
        });
      }
    } catch (error) {
      // The end of a trial also ends a pause, so that its generations can be freed.
      if (!trial.stop.signal.aborted)
        this.#parts.logger.warn({ error: describeError(error) }, 'a new model could not be compared');
    } finally {
      trial.isRunning = false;
    }
  }

  /** Another request takes the place of one that is not compared. */
  #skip({ pipelines }: Trial, name: string): void {
    const own = pipelines.get(name);
    if (own !== undefined) own.chosen--;
    this.#count('busy');
  }

  async #compare(
    { before, next, pipelines }: Trial,
    { pipeline: name, body, requestId }: Trial['waiting'][number],
  ): Promise<void> {
    const [old, current] = [before, next].map(({ pipelines: all }) => all.find((one) => one.name === name));
    if (old === undefined || current === undefined) return;
    const page = { ...body, user_page: 0, user_page_size: DEPTH };
    const found = await rankBoth(old, current, page, requestId);
    this.#count(found.after === undefined ? 'failed' : 'compared');
    if (found.before === undefined) return;
    const last = pipelines.get(name)?.last;
    const agreement =
      found.after === undefined
        ? 0
        : agreementOf(
            idsOf(found.before),
            idsOf(found.after),
            Math.max(found.before.candidates.left, found.after.candidates.left),
          );
    if (agreement === undefined || last === undefined) return;
    last.push(agreement);
    if (last.length > FIRST) last.shift();
  }

  #isBusy({ delay }: Trial): boolean {
    return this.#parts.admission.waiting > 0 || delay.lateMs > BUSY_LATE_MS;
  }

  #count(outcome: keyof ComparisonCounts): void {
    this.#counts = { ...this.#counts, [outcome]: this.#counts[outcome] + 1 };
  }
}

/**
 * How alike two orders begin: the overlap of their first ten candidates, or of the first half of fewer than twenty, corrected
 * for chance as in Cohen's kappa.
 * @param count the number of candidates of the request
 * @returns 1 for the same first candidates; 0 for as many in common as two random orders have; undefined for one candidate
 */
export function agreementOf(
  before: readonly string[],
  after: readonly string[],
  count: number,
): number | undefined {
  const depth = Math.min(DEPTH, Math.floor(count / 2));
  if (depth === 0) return undefined;
  const chance = depth / count;
  return (overlapAt(before, after, depth) - chance) / (1 - chance);
}

/** The pipelines that rank in both generations, and of which a model has another version. */
function changedModels(before: Generation, next: Generation): string[] {
  const versions = ({ models }: Generation, name: string): string =>
    JSON.stringify(
      models.filter(({ pipeline }) => pipeline === name).map(({ step, version }) => [step, version]),
    );
  return next.pipelines
    .filter(
      ({ name, task }) =>
        task === 'rank' && before.pipelines.some((one) => one.name === name && one.task === task),
    )
    .map(({ name }) => name)
    .filter((name) => versions(before, name) !== versions(next, name));
}
