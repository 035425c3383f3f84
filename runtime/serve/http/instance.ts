import type { Registry } from 'prom-client';
import type { ErrorCode } from '../../ground/api/error-codes.js';
import { MillraceError } from '../../ground/api/errors.js';
import type { Diagnostic } from '../../project/config/diagnostics/diagnostics.js';

/** Something that does not stop this instance, and should be changed. */
export interface Warning {
  readonly code: string;
  readonly detail: string;
}

interface AnyReload {
  /** When it ended, epoch milliseconds. */
  readonly at: number;
  /** How long it took, milliseconds. */
  readonly ms: number;
  /** The version of the project that serves after it. */
  readonly version: string;
  /** The errors of a failed reload; the warnings of a reload that succeeded. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The result of a reload of the project. */
export type ReloadReport = AnyReload &
  (
    | {
        readonly outcome: 'succeeded';
        readonly versionBefore: string;
        readonly pipelines: readonly string[];
        readonly models: readonly {
          readonly pipeline: string;
          readonly step: string;
          readonly version: string;
        }[];
      }
    | {
        readonly outcome: 'failed';
        /** An error that is not about a place in a file. */
        readonly problem?: { readonly code?: string; readonly error?: unknown; readonly detail: string };
      }
  );

/** The version that serves after a reload, and why it is not the new one. */
export interface ReloadOutcome {
  readonly version: string;
  readonly problem?: { readonly code: ErrorCode; readonly detail: string } | undefined;
}

/** The state of the process for /readyz, /metrics and /workbench. */
export class Instance {
  #isShuttingDown = false;
  #lastReload: ReloadReport | undefined;
  /** By default there is nothing to reload. */
  #reload: (isForced: boolean) => Promise<ReloadOutcome> = () => Promise.resolve({ version: '' });
  readonly #warnings: (() => readonly Warning[])[] = [];
  readonly #gather: ((own: Registry) => Promise<string>) | undefined;

  /** @param gather renders the metrics of several processes; by default /metrics shows only those of this process */
  constructor(gather?: (own: Registry) => Promise<string>) {
    this.#gather = gather;
  }

  /**
   * True after the process was told to stop. It still answers requests, but /readyz fails, so that new traffic goes
   * elsewhere.
   */
  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  shutDown(): void {
    this.#isShuttingDown = true;
  }

  /** What /readyz shows beside its checks. It does not stop this instance. */
  warnings(): readonly Warning[] {
    const last = this.#lastReload;
    const refused =
      last?.outcome === 'failed' && last.problem?.code === 'reload_refused'
        ? [{ code: 'reload_refused', detail: last.problem.detail }]
        : [];
    return [...refused, ...this.#warnings.flatMap((of) => of())];
  }

  /** Adds a part of the process that has warnings. */
  warnOf(warnings: () => readonly Warning[]): void {
    this.#warnings.push(warnings);
  }

  /** The last reload of the project; undefined before the first one. */
  get lastReload(): ReloadReport | undefined {
    return this.#lastReload;
  }

  reloaded(report: ReloadReport): void {
    this.#lastReload = report;
  }

  /** Says how the project of the service is reloaded: in all of its processes. */
  reloadBy(reload: (isForced: boolean) => Promise<ReloadOutcome>): void {
    this.#reload = reload;
  }

  /**
   * Reloads the project of the service.
   * @param isForced whether the new project is served even if it does not meet the condition
   * @returns the version that serves
   * @throws MillraceError why it was not reloaded
   */
  async reload(isForced: boolean): Promise<string> {
    const { version, problem } = await this.#reload(isForced);
    if (problem !== undefined) throw new MillraceError(problem.code, problem.detail);
    return version;
  }

  /** Returns the text of /metrics. */
  metrics(own: Registry): Promise<string> {
    return this.#gather === undefined ? own.metrics() : this.#gather(own);
  }
}
