import type { Logger } from 'pino';
import { MillraceError } from '../../../ground/api/errors.js';
import { readBody } from '../../../ground/core/body-fields.js';
import { describeError } from '../../../ground/core/describe-error.js';
import { AS_WORD, didYouMean } from '../../../ground/core/nearest.js';
import type { Settings } from '../../../project/settings/settings.js';
import { ReleaseDamagedError, type ReleaseFile } from '../../../state/releases/release-archive.js';
import {
  ROLLBACK_BODY,
  ROLLBACK_END_BODY,
  releaseState,
  rollbackState,
  type NotCarried,
  type ReleaseList,
  type RollbackEnd,
  type RolledBack,
} from '../../../state/releases/release-answers.js';
import {
  releaseBefore,
  type Release,
  type ReleaseIndex,
  type Rollback,
} from '../../../state/releases/release-index.js';
import type { Releases } from '../../../state/releases/releases.js';
import type { Warning } from '../../http/instance.js';
import { ProjectInvalidError, type CompiledProject } from './compile-project.js';
import type { Generation } from './generation.js';
import { collectRelease, writeRelease } from './release-files.js';
import type { ReloadProblem, Reloader } from './reloader.js';

/** How often an instance asks for rollbacks, in milliseconds. */
const POLL_MS = 1000;
/** The time until a rollback that failed here is tried again, in milliseconds. */
const RETRY_MS = 30_000;
/** The most bytes of an archive in object storage. It is in memory while it is packed and unpacked. */
const MOST_OBJECT = 256 * 2 ** 20;

export interface ServedReleasesParts {
  readonly settings: Pick<Settings, 'project' | 'linkedFolders' | 'releaseBytes' | 'releases'>;
  readonly releases: Releases;
  readonly logger: Logger;
  readonly now: () => number;
  /** Compiles the project of a folder, with the code of this instance. */
  readonly compile: (root: string) => Promise<CompiledProject>;
}

/**
 * The last projects that a service served, and its rollbacks. The store says whether the service is rolled back: each
 * instance asks it once a second, and when it starts, and then serves that release instead of its files.
 */
export class ServedReleases {
  readonly #parts: ServedReleasesParts;
  /** What the store said last. */
  #rollback: Rollback | undefined;
  /** Why the rollback could not be taken here, and when to try again. */
  #failure: { readonly detail: string; readonly retryAt: number } | undefined;
  #reloader: Reloader | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Ends with the last look, rollback or upkeep. */
  #working: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: ServedReleasesParts) {
    this.#parts = parts;
  }

  /** The version of the release that holds reloads. */
  get heldBy(): string | undefined {
    return this.#rollback?.version;
  }

  /** Whether the service is rolled back, and this instance serves something else. */
  get isPending(): boolean {
    return this.#rollback !== undefined && this.#current.release !== this.#rollback.version;
  }

  /** For /readyz. */
  warnings(): readonly Warning[] {
    if (this.#rollback === undefined) return [];
    const { version, since } = rollbackState(this.#rollback);
    const held = `a rollback to ${version} holds reloads since ${since}; \`millrace rollback --end\` takes the newest files`;
    const failed = `the rollback to ${version} cannot be served here: ${this.#failure?.detail ?? ''}`;
    return [
      { code: 'rolled_back', detail: held },
      ...(this.#failure === undefined ? [] : [{ code: 'rollback_failed', detail: failed }]),
    ];
  }

  /**
   * Compiles the release that an instance which starts must serve. Never rejects: if it cannot be served, the log says why.
   * @returns undefined if the instance serves its files
   */
  async atStart(): Promise<CompiledProject | undefined> {
    try {
      const index = await this.#parts.releases.read();
      this.#rollback = index.rollback;
      return this.#rollback && (await this.#open(releaseOf(index, this.#rollback.version)));
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Begins to follow the store, and keeps what is served now. */
  start(reloader: Reloader): void {
    this.#reloader = reloader;
    void this.keep(reloader.current);
    this.#next();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#working;
  }

  /** Keeps the files of a generation that serves, unless they are those of a rollback. Never rejects. */
  keep(generation: Generation): Promise<void> {
    const { settings, releases, logger, now } = this.#parts;
    if (generation.release !== undefined || mostOf(settings) === 0) return Promise.resolve();
    return this.#alone(async () => {
      const { version } = generation;
      const { releases: all } = await releases.read();
      const known = all.find((one) => one.version === version);
      if (known !== undefined && known.parts > 0) {
        if (known !== all[0]) await releases.keep({ ...known, time: now() }, undefined);
        return;
      }
      const limits = { linked: settings.linkedFolders, most: mostOf(settings) };
      const { release, packed } = await collectRelease(generation, limits);
      await releases.keep({ ...release, time: now() }, packed);
      if (release.detail === undefined)
        logger.info(
          { project_version: version, packed_bytes: release.packed },
          'the project is kept for a rollback',
        );
      else
        logger.warn(
          { project_version: version, reason: release.detail },
          'the project is not kept, so `millrace rollback` cannot bring it back',
        );
    }).catch((error: unknown) => {
      logger.warn({ error: describeError(error) }, 'the project could not be kept for a rollback');
    });
  }

  /** @throws MillraceError release_unusable, or a code of STORE_READ_FAILURES */
  async list(): Promise<ReleaseList> {
    const { releases, rollback } = await this.#parts.releases.read();
    return {
      serving: this.#current.version,
      rollback: rollback === undefined ? null : rollbackState(rollback),
      releases: releases.map(releaseState),
    };
  }

  /**
   * Serves a release here, and then on all instances. If it cannot be served here, nothing changes.
   * @param body `{ version }`; null is the release that was served before
   * @throws MillraceError invalid_body, unknown_release, release_not_kept, release_unusable, or a code of STORE_WRITE_FAILURES
   */
  rollBack(body: unknown): Promise<RolledBack> {
    const { version } = readBody(body, ROLLBACK_BODY, 'the body');
    return this.#alone(async () => {
      const { releases, logger, now } = this.#parts;
      const before = this.#current;
      const index = await releases.read();
      const release = version === null ? earlier(index, before.version) : releaseOf(index, version);
      const compiled = await this.#open(release);
      const rollback = await releases.rollBack(release.version, now()).catch(async (error: unknown) => {
        await compiled.close();
        throw error;
      });
      this.#took(rollback);
      await this.#serve(compiled).catch(async (error: unknown) => {
        await this.#undo(index.rollback);
        throw error;
      });
      logger.warn({ version: release.version, version_before: before.version }, 'the service is rolled back');
      return {
        version: release.version,
        version_before: before.version,
        since: rollbackState(rollback).since,
        not_carried: notCarried(release, before.code),
      };
    });
  }

  /**
   * Ends the rollback on all instances, and takes the files of this one.
   * @throws MillraceError invalid_body, release_unusable, or a code of STORE_WRITE_FAILURES; if the rollback has ended, and
   * this instance could not take its files, that of the reload
   */
  end(body: unknown): Promise<RollbackEnd> {
    readBody(body, ROLLBACK_END_BODY, 'the body');
    return this.#alone(async () => {
      const { rollback } = await this.#parts.releases.read();
      if (rollback !== undefined) await this.#parts.releases.end();
      const problem = await this.#goOn();
      const { version } = this.#current;
      if (problem !== undefined)
        throw new MillraceError(
          problem.code,
          `the rollback has ended, but the newest files cannot be served, and ${version} goes on serving: ${problem.detail}`,
        );
      return { version, version_before: rollback?.version ?? null };
    });
  }

  get #reloaderNow(): Reloader {
    if (this.#reloader === undefined) throw new Error('the service does not run yet');
    return this.#reloader;
  }

  get #current(): Generation {
    return this.#reloaderNow.current;
  }

  #next(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      void this.#alone(() => this.#look())
        .catch((error: unknown) =>
          this.#parts.logger.debug({ error: describeError(error) }, 'the store was not asked for rollbacks'),
        )
        .finally(() => this.#next());
    }, POLL_MS);
    this.#timer.unref();
  }

  /** Does what the store says. @throws MillraceError with a code of STORE_READ_FAILURES */
  async #look(): Promise<void> {
    const index = await this.#parts.releases.read();
    const { rollback } = index;
    if (rollback === undefined) {
      await this.#goOn();
      return;
    }
    if (rollback.version !== this.#rollback?.version || rollback.since !== this.#rollback.since)
      this.#took(rollback);
    if (!this.isPending || this.#parts.now() < (this.#failure?.retryAt ?? 0)) return;
    try {
      const compiled = await this.#open(releaseOf(index, rollback.version));
      await this.#serve(compiled);
      this.#failure = undefined;
      this.#parts.logger.warn({ version: rollback.version }, 'the service is rolled back');
    } catch (error) {
      this.#fail(error);
    }
  }

  #took(rollback: Rollback): void {
    this.#rollback = rollback;
    this.#failure = undefined;
  }

  /** Takes the files again, if a rollback has ended. @returns why they were not taken */
  async #goOn(): Promise<ReloadProblem | undefined> {
    if (this.#rollback === undefined) return undefined;
    this.#rollback = undefined;
    this.#failure = undefined;
    this.#parts.logger.info({}, 'the rollback has ended; the files of the project are loaded again');
    return (await this.#reloaderNow.reload()).problem;
  }

  /** Takes back a rollback that this instance could not serve. */
  async #undo(before: Rollback | undefined): Promise<void> {
    const { releases } = this.#parts;
    this.#rollback = before;
    await (before === undefined ? releases.end() : releases.rollBack(before.version, before.since));
  }

  /** @throws MillraceError why it cannot be served */
  async #serve(compiled: CompiledProject): Promise<void> {
    const { problem } = await this.#reloaderNow.replace(() => Promise.resolve(compiled));
    if (problem === undefined) return;
    await compiled.close();
    throw new MillraceError(problem.code, problem.detail);
  }

  /** @throws MillraceError release_not_kept, release_unusable */
  async #open(release: Release): Promise<CompiledProject> {
    const { releases, compile, settings } = this.#parts;
    if (release.parts === 0)
      throw new MillraceError(
        'release_not_kept',
        `the files of the release ${release.version} are not kept: ${release.detail ?? 'the store has lost them'}`,
      );
    let files: ReleaseFile[];
    try {
      files = await releases.load(release);
    } catch (error) {
      if (error instanceof ReleaseDamagedError) throw unusable(release, error.message);
      throw error;
    }
    const { root, remove } = await writeRelease(files, settings.project).catch((error: unknown) => {
      throw unusable(release, `its files cannot be written to a temporary folder: ${String(error)}`);
    });
    let compiled: CompiledProject;
    try {
      compiled = await compile(root);
    } catch (error) {
      await remove();
      throw error;
    }
    const close = async (): Promise<unknown[]> => {
      const errors = await compiled.close();
      await remove();
      return errors;
    };
    const faults = compiled.diagnostics.filter(({ severity }) => severity === 'error');
    if (faults.length === 0) return { ...compiled, release: release.version, close };
    await close();
    throw unusable(release, asProblem(new ProjectInvalidError(faults)).message);
  }

  #fail(error: unknown): void {
    const { message: detail } = asProblem(error);
    this.#failure = { detail, retryAt: this.#parts.now() + RETRY_MS };
    this.#parts.logger.error({ reason: detail }, 'the rollback cannot be served here; what serves goes on');
  }

  /** Does one thing after the other, so that a look never undoes what a request does. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#working.then(work);
    this.#working = done.catch(() => undefined);
    return done;
  }
}

/** @throws MillraceError unknown_release */
function releaseOf({ releases }: ReleaseIndex, wanted: string): Release {
  const found = releases.find(({ version }) => version === wanted);
  if (found !== undefined) return found;
  const names = releases.map(({ version }) => version);
  throw new MillraceError(
    'unknown_release',
    `there is no release ${wanted.slice(0, 100)}; ${didYouMean(wanted, names, AS_WORD) ?? knownWords(names)}`,
  );
}

/** @throws MillraceError unknown_release */
function earlier(index: ReleaseIndex, current: string): Release {
  const found = releaseBefore(index, current);
  if (found !== undefined) return found;
  throw new MillraceError(
    'unknown_release',
    `no release was served before ${current}; ${knownWords(index.releases.map(({ version }) => version))}`,
  );
}

function knownWords(names: readonly string[]): string {
  return names.length === 0 ? 'none is known' : `known are ${names.join(', ')}`;
}

/** The most bytes of an archive that is kept. */
function mostOf({ releases, releaseBytes }: Pick<Settings, 'releases' | 'releaseBytes'>): number {
  return releases === '' ? releaseBytes : MOST_OBJECT;
}

function notCarried({ code }: Release, own: Release['code']): NotCarried[] {
  return code.map(({ name, version }) => ({
    name,
    is_same: own.some((one) => one.name === name && one.version === version),
  }));
}

function unusable({ version }: Release, why: string): MillraceError {
  return new MillraceError('release_unusable', `the release ${version} cannot be served: ${why}`);
}

/** An error with a code, for an answer. */
function asProblem(error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  return new MillraceError('release_unusable', error instanceof Error ? error.message : String(error));
}
