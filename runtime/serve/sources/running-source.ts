import { setTimeout as delay } from 'node:timers/promises';
import type { Backlog, Source } from '../../ground/api/source.js';
import { describeError, type ErrorDescription } from '../../ground/core/describe-error.js';
import { consume } from './consume.js';
import type { Intake, Outcome, Totals } from './intake.js';
import { Pace, type ServiceLoad } from './pace.js';
import { RejectedLog } from './rejected-log.js';
import type { SourceLog } from './source-log.js';

/** How long a stopped source may still store and settle what it has read, in milliseconds. */
const FINISH_MS = 10_000;
const BACKLOG_MS = 10_000;
const FIRST_BACKLOG_MS = 1000;
/** How many kinds of skipped messages are told, and how much of their names. */
const MOST_KINDS = 100;
const LONGEST_KIND = 100;

/** What metrics and readiness tell of a source. */
export interface SourceState {
  readonly name: string;
  /** Why it does not answer; undefined if it does. */
  readonly lost: string | undefined;
  /** Since the process started. */
  readonly totals: Totals;
  readonly messages: number;
  readonly retries: number;
  /** As the server said lately. */
  readonly backlog: Backlog | undefined;
  readonly slowedMs: number;
  /** When messages were last settled, epoch milliseconds. */
  readonly settledAt: number | undefined;
}

export interface RunningOptions {
  readonly name: string;
  readonly log: SourceLog;
  /** How busy the process is; undefined if it answers no requests. */
  readonly load?: (() => ServiceLoad) | undefined;
  readonly backlogMs?: number;
}

/** A source whose messages are being stored. */
export class RunningSource implements SourceState {
  readonly name: string;
  readonly totals: Totals = {};
  lost: string | undefined;
  messages = 0;
  retries = 0;
  backlog: Backlog | undefined;
  settledAt: number | undefined;
  readonly #source: Source;
  readonly #intake: () => Intake;
  readonly #log: SourceLog;
  readonly #pace: Pace;
  readonly #backlogMs: number;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  readonly #skipped = new Set<string>();
  readonly #rejected: RejectedLog;
  #told = '';
  readonly #hasTold = new Set<Outcome>();

  /** @param intake what stores the messages; asked for each batch, because a reload replaces it */
  constructor(source: Source, intake: () => Intake, { name, log, load, backlogMs }: RunningOptions) {
    this.name = name;
    this.#source = source;
    this.#intake = intake;
    this.#log = log;
    this.#rejected = new RejectedLog(log);
    this.#pace = new Pace(load);
    this.#backlogMs = backlogMs ?? BACKLOG_MS;
    this.#ended = this.#run();
    void this.#watchBacklog();
  }

  get slowedMs(): number {
    return this.#pace.slowedMs;
  }

  /** The totals, with zeros for the outcomes that can occur. */
  counts(): Totals {
    return Object.fromEntries(this.#intake().outcomes.map((one: Outcome) => [one, this.totals[one] ?? 0]));
  }

  /** Stops reading. Resolves when what was read is stored and settled, or cannot be soon. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const late = new AbortController();
    await Promise.race([
      this.#ended,
      delay(FINISH_MS, undefined, { signal: late.signal, ref: false }).catch(() => undefined),
    ]);
    late.abort();
    await (async () => this.#source.close?.())().catch(() => undefined);
  }

  async #run(): Promise<void> {
    await consume(this.#source, this.#intake, {
      signal: this.#stop.signal,
      pace: this.#pace,
      observer: {
        found: () => {
          if (this.lost !== undefined) this.#log.info({ source: this.name }, 'the source answers again');
          this.lost = undefined;
        },
        lost: (error, retryMs) => {
          this.lost = describeError(error, false).message;
          this.retries += 1;
          this.#tell('lost', error, retryMs, 'the source does not answer; trying again');
        },
        waiting: (error, retryMs) => {
          this.retries += 1;
          this.#tell('waiting', error, retryMs, 'messages could not be stored; trying again');
        },
        settled: (messages, { totals, rejected, skipped = [] }) => {
          this.#told = '';
          this.messages += messages;
          this.settledAt = Date.now();
          for (const [outcome, count] of Object.entries(totals) as [Outcome, number][])
            this.totals[outcome] = (this.totals[outcome] ?? 0) + count;
          for (const { message, reason } of rejected)
            this.#rejected.tell({ source: this.name, partition: message.partition, id: message.id, reason });
          this.#tellSkipped(skipped);
          this.#tellOutcomes(totals);
        },
      },
    });
  }

  /** Each kind is told once. */
  #tellSkipped(kinds: readonly string[]): void {
    for (const kind of kinds) {
      const shown = kind.slice(0, LONGEST_KIND);
      if (this.#skipped.has(shown) || this.#skipped.size === MOST_KINDS) continue;
      this.#skipped.add(shown);
      this.#log.info({ source: this.name, kind: shown }, 'messages of this kind are skipped');
    }
  }

  /** Tells once what a user would otherwise miss in the counts. */
  #tellOutcomes({ uncounted = 0, unused = 0 }: Totals): void {
    const tell = (outcome: 'uncounted' | 'unused', message: string): void => {
      if (this.#hasTold.has(outcome)) return;
      this.#hasTold.add(outcome);
      this.#log.warn({ source: this.name, outcome }, message);
    };
    if (uncounted > 0)
      tell(
        'uncounted',
        'events are too old for counters, which left them out; everything else has them. `millrace counters rebuild` counts them from the ledger. MILLRACE_COUNTER_HORIZON raises the age',
      );
    if (unused > 0)
      tell(
        'unused',
        'there are events that no counter and no interaction step counts; only the ledger can hold them',
      );
  }

  /** The same failure is told once, until something is stored again. */
  #tell(state: string, error: unknown, retryMs: number, message: string): void {
    const described: ErrorDescription = describeError(error, false);
    const told = `${state} ${described.message}`;
    if (told === this.#told) return;
    this.#told = told;
    this.#log.warn({ source: this.name, error: described, retry_ms: retryMs }, message);
  }

  async #watchBacklog(): Promise<void> {
    const { signal } = this.#stop;
    // The source connects first.
    for (let ms = Math.min(FIRST_BACKLOG_MS, this.#backlogMs); !signal.aborted; ms = this.#backlogMs) {
      await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
      this.backlog = await this.#source.backlog?.().catch(() => undefined);
    }
  }
}
