import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ErrorCode } from '../../../ground/api/error-codes.js';
import { MillraceError } from '../../../ground/api/errors.js';
import type { Diagnostic } from '../../../project/config/diagnostics/diagnostics.js';
import { describeError } from '../../../ground/core/describe-error.js';
import type { ReloadOutcome, ReloadReport } from '../../http/instance.js';
import { ProjectInvalidError, type CompiledProject } from './compile-project.js';
import type { Generation } from './generation.js';

/** The result of a reload. */
export interface Reload {
  readonly outcome: 'succeeded' | 'failed';
  /** Versions of the files that options name, as they were read, also if the reload failed. */
  readonly files: CompiledProject['files'];
  /** Why it failed. */
  readonly problem?: ReloadProblem;
}

export interface ReloadProblem {
  readonly code: ErrorCode;
  readonly detail: string;
}

/** Counts of reloads, for /metrics. */
export interface ReloadCounts {
  readonly succeeded: number;
  readonly failed: number;
  /** Reloads that did not take place because a rollback holds them. */
  readonly held: number;
  /** Reloads whose project did not meet the condition. */
  readonly refused: number;
}

export interface ReloaderOptions {
  readonly logger: Logger;
  /** Takes the report of each reload, before its outcome is returned. */
  readonly report: (report: ReloadReport) => void;
  /** Loads, checks, compiles and warms up the current files of the project. */
  readonly compile: () => Promise<CompiledProject>;
  /** Wires the compiled project, with its routes. */
  readonly create: (compiled: CompiledProject) => Promise<Generation>;
  /** Prepares what a generation needs when it serves: sinks, sources. */
  readonly begin: (next: Generation) => Promise<void>;
  /** Reports how a project of the files differs from the one in service, before it is used. It may refuse it by rejecting. */
  readonly compare?: ((before: Generation, next: Generation, isForced: boolean) => Promise<void>) | undefined;
  /** Resolves when the generation before is no longer needed. By default, it is closed after its last request. */
  readonly keep?: ((before: Generation, next: Generation) => Promise<void>) | undefined;
  /** Returns the version of the release that serves instead of the files, if a rollback holds reloads. */
  readonly heldBy?: () => string | undefined;
}

/** The problem of a reload of a process that ends. */
export const ENDING: ReloadProblem = { code: 'overloaded', detail: 'the process shuts down' };

/** How long the process waits for its generations when it ends, in milliseconds. */
const CLOSE_MS = 2000;

/**
 * Holds the generation of the project that is in service. A reload builds the next generation completely and then
 * switches with one assignment, so each request runs on one generation. The previous generation is closed after its
 * last request.
 */
export class Reloader {
  readonly #options: ReloaderOptions;
  /** Only a reload replaces it. */
  current: Generation;
  #counts: ReloadCounts = { succeeded: 0, failed: 0, held: 0, refused: 0 };
  #lastFailed = false;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Reload> | undefined;
  #closed = false;
  #isForced = false;
  readonly #retiring = new Set<Generation>();

  constructor(first: Generation, options: ReloaderOptions) {
    this.#options = options;
    this.current = first;
  }

  get counts(): ReloadCounts {
    return this.#counts;
  }

  /** True if the last reload failed, so that the files differ from the version in service. */
  get lastFailed(): boolean {
    return this.#lastFailed;
  }

  /**
   * Reloads the project, after a running reload. Never rejects: errors are logged and counted.
   * @param isForced whether the project is taken even if it does not meet the condition
   */
  reload(isForced = false): Promise<Reload> {
    this.#isForced ||= isForced;
    if (this.#next === undefined) {
      this.#next = this.#running.then(() => {
        this.#next = undefined;
        const { compare } = this.#options;
        const force = this.#isForced;
        this.#isForced = false;
        return this.#take(
          () => this.#compileFiles(),
          (before, next) => compare?.(before, next, force),
        );
      });
      this.#running = this.#next;
    }
    return this.#next;
  }

  /** Reloads as `reload`. @returns the version that serves then, and why it is not that of the files */
  async reloaded(isForced: boolean): Promise<ReloadOutcome> {
    const { problem } = await this.reload(isForced);
    return { version: this.current.version, problem };
  }

  /**
   * Serves another project than that of the files, after a running reload. Never rejects.
   * @param compile as `ReloaderOptions.compile`; if it rejects, the project before goes on serving
   */
  replace(compile: () => Promise<CompiledProject>): Promise<Reload> {
    const running = this.#running.then(() => this.#take(compile));
    this.#running = running;
    return running;
  }

  /** Waits for a running reload, and closes the generation that is in service. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#next;
    await this.#running;
    const retired = Promise.all(Array.from([this.current, ...this.#retiring], (one) => one.retire()));
    const stop = new AbortController();
    const late = pause(CLOSE_MS, undefined, { signal: stop.signal });
    await Promise.race([retired, late]).finally(() => stop.abort());
  }

  /** @throws MillraceError reload_held */
  #compileFiles(): Promise<CompiledProject> {
    const { compile, heldBy } = this.#options;
    const release = heldBy?.();
    if (release === undefined) return compile();
    throw new MillraceError(
      'reload_held',
      `a rollback to ${release} holds reloads; \`millrace rollback --end\` takes the newest files`,
    );
  }

  async #take(
    compile: () => Promise<CompiledProject>,
    check?: (before: Generation, next: Generation) => Promise<void> | undefined,
  ): Promise<Reload> {
    let files: CompiledProject['files'] = new Map();
    if (this.#closed) return { outcome: 'failed', files, problem: ENDING };
    const { report, create, begin } = this.#options;
    const started = performance.now();
    const before = this.current;
    try {
      const compiled = await compile();
      ({ files } = compiled);
      await refuseNoPipelines(before, compiled);
      const next = await create(compiled);
      try {
        await check?.(before, next);
        await begin(next);
      } catch (error) {
        await next.retire(0);
        throw error;
      }
      this.#takeOver(next);
    } catch (error) {
      const outcome = outcomeOf(error);
      this.#count(outcome);
      this.#lastFailed ||= outcome !== 'held';
      report({
        outcome: 'failed',
        at: Date.now(),
        ms: Math.round(performance.now() - started),
        version: before.version,
        ...problemsOf(error),
      });
      const { message: detail } = error as Error;
      const code = error instanceof MillraceError ? error.code : 'internal';
      return { outcome: 'failed', files, problem: { code, detail } };
    }
    this.#lastFailed = false;
    this.#count('succeeded');
    const { version, warnings, pipelines, models } = this.current;
    report({
      outcome: 'succeeded',
      at: Date.now(),
      ms: Math.round(performance.now() - started),
      version,
      versionBefore: before.version,
      pipelines: pipelines.map(({ name }) => name),
      models,
      diagnostics: warnings,
    });
    return { outcome: 'succeeded', files };
  }

  #count(outcome: keyof ReloadCounts): void {
    this.#counts = { ...this.#counts, [outcome]: this.#counts[outcome] + 1 };
  }

  #takeOver(next: Generation): void {
    const before = this.current;
    this.current = next;
    this.#retiring.add(before);
    const { keep = () => Promise.resolve() } = this.#options;
    const isFree = keep(before, next).then(() => before.retire());
    void isFree.then(
      () => this.#retiring.delete(before),
      (error: unknown) => {
        this.#retiring.delete(before);
        this.#options.logger.warn({ error: describeError(error) }, 'an old generation could not be closed');
      },
    );
  }
}

/** A reload that a rollback holds is no failure: what serves is meant to serve. */
function outcomeOf(error: unknown): 'failed' | 'held' | 'refused' {
  const code = error instanceof MillraceError ? error.code : '';
  if (code === 'reload_held') return 'held';
  return code === 'reload_refused' ? 'refused' : 'failed';
}

/**
 * Prevents a service with pipelines from losing all of them. A deployment may be replacing the folder, or a mount may
 * be lost.
 * @throws MillraceError project_invalid
 */
async function refuseNoPipelines(before: Generation, compiled: CompiledProject): Promise<void> {
  const sound = !compiled.diagnostics.some(({ severity }) => severity === 'error');
  if (!sound || compiled.pipelines.length > 0 || before.pipelines.length === 0) return;
  await compiled.close();
  throw new MillraceError(
    'project_invalid',
    'the project has no pipeline any more; restart the service to serve entities and features alone',
  );
}

/** What prevented a reload: the diagnostics of the files, or another error. */
function problemsOf(error: unknown): Pick<ReloadReport & { outcome: 'failed' }, 'diagnostics' | 'problem'> {
  if (error instanceof ProjectInvalidError) return { diagnostics: error.diagnostics };
  if (error instanceof MillraceError)
    return { diagnostics: [], problem: { code: error.code, detail: error.message } };
  return {
    diagnostics: [],
    problem: { error: describeError(error), detail: 'the project could not be loaded' },
  };
}

/** Logs a reload: the diagnostics, each with its place, and the outcome. */
export function logReload(logger: Logger, report: ReloadReport): void {
  for (const one of report.diagnostics)
    logger[one.severity === 'error' ? 'error' : 'warn'](placeOf(one), one.message);
  if (report.outcome === 'failed') {
    if (report.problem !== undefined) {
      const { detail, ...fields } = report.problem;
      logger.error(fields, detail);
    }
    logger.error(
      { project_version: report.version },
      'the reload failed; what served before goes on serving',
    );
    return;
  }
  const { version, versionBefore, pipelines, models, ms } = report;
  logger.info(
    { project_version: version, version_before: versionBefore, pipelines, models, ms },
    'the project was reloaded',
  );
}

/** Returns the location and the remedy of a diagnostic, as fields of a log line. */
export function placeOf({ code, at, help }: Diagnostic): Record<string, unknown> {
  const { line, column } = at.file.position(at.start);
  return { code, file: at.file.path, line, column, help };
}
