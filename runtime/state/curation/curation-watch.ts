import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { readCuration } from '../../project/config/curation/load-curation.js';
import { placeOf, readText } from '../../project/config/project/project-files.js';
import { curationKey } from '../store/keys.js';
import type { Store } from '../store/store.js';
import type { CurationLists, ListState, RuleSource } from './curation-lists.js';
import { decodeList, readSent, rulesVersion } from './stored-rules.js';

export interface CurationWatchParts {
  readonly lists: CurationLists;
  readonly root: string;
  readonly store: Pick<Store, 'read'>;
  /** Start of every store key. */
  readonly prefix: string;
  readonly logger: Logger;
  /** The time between two polls, in milliseconds. */
  readonly pollMs: number;
}

/**
 * Takes up new rules while the service runs: changed files, and rules that this or another instance stored. Requests do
 * not pay for it: a poll compares stamps of files and versions of records.
 */
export class CurationWatch {
  /** By list: the stamp of the file that was last read, and the stamp of the last poll. */
  readonly #read = new Map<string, string>();
  readonly #seen = new Map<string, string>();
  /** By list: the version of the stored rules that were last read. */
  readonly #versions = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Ends with the last poll or write. */
  #looking: Promise<void> = Promise.resolve();

  constructor(private readonly parts: CurationWatchParts) {}

  /** Reads the stored rules, and begins to poll. The files were read before. Never rejects. */
  async start(): Promise<void> {
    for (const state of this.parts.lists.states()) {
      const stamp = await this.#stampOf(state);
      this.#read.set(state.name, stamp);
      this.#seen.set(state.name, stamp);
    }
    await this.look();
    this.#next();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Polls once, after a poll or a write that still runs. Never rejects. */
  look(): Promise<void> {
    return this.alone(async () => {
      for (const state of this.parts.lists.states()) await this.#lookAtFile(state);
      await this.#lookAtStore();
    });
  }

  /**
   * Does work while no poll and no other write of this process runs. Otherwise the rules in service could be those of one
   * write and the stored rules those of another, or a poll could bring back the rules that it read before a write.
   */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#looking.then(work);
    this.#looking = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  #next(): void {
    if (this.#isStopped) return;
    const { pollMs } = this.parts;
    this.#timer = setTimeout(() => void this.look().finally(() => this.#next()), pollMs);
    this.#timer.unref();
  }

  async #lookAtFile(state: ListState): Promise<void> {
    const stamp = await this.#stampOf(state);
    const wasSeen = this.#seen.get(state.name) === stamp;
    this.#seen.set(state.name, stamp);
    // A file that is still being written has another stamp at the next poll.
    if (!wasSeen || this.#read.get(state.name) === stamp) return;
    this.#read.set(state.name, stamp);
    const diagnostics = new Diagnostics();
    const file = await readText(this.parts.root, state.path, diagnostics);
    const list = file && readCuration(file, this.parts.lists.zone, diagnostics);
    if (diagnostics.hasErrors || list === undefined) this.#refuse(state.name, 'file', diagnostics.all);
    else await this.#replace(state.name, 'file', list.rules);
  }

  async #lookAtStore(): Promise<void> {
    const { lists, store, prefix, logger } = this.parts;
    const names = lists.names();
    if (names.length === 0) return;
    let records: (Buffer | null)[];
    try {
      records = await store.read(names.map((name) => curationKey(prefix, name)));
      lists.isStale = false;
    } catch (error) {
      lists.isStale = true;
      const reason = error instanceof Error ? error.message : String(error);
      logger.debug({ reason }, 'the stored rules of curation could not be read; the old ones go on serving');
      return;
    }
    for (const [at, name] of names.entries()) await this.#take(name, records[at] ?? null);
  }

  /** Takes the rules of a record, if it is new. */
  async #take(list: string, record: Buffer | null): Promise<void> {
    const version = rulesVersion(record);
    if ((this.#versions.get(list) ?? '') === version) return;
    this.#versions.set(list, version);
    const sent = await decodeList(record);
    if (sent === undefined) {
      const diagnostics = new Diagnostics();
      const at = placeOf(`curation/${list}.yaml`);
      diagnostics.error(
        'wrong_type',
        at,
        'the stored rules cannot be read: they are damaged, or of a later version',
      );
      this.#refuse(list, 'api', diagnostics.all);
      return;
    }
    const { rules, errors } = await readSent(list, sent, this.parts.lists.zone);
    if (errors.length > 0) this.#refuse(list, 'api', errors);
    else await this.#replace(list, 'api', rules);
  }

  /** A new version of the stored rules that this process wrote and already uses. */
  written(list: string, record: Buffer): void {
    this.#versions.set(list, rulesVersion(record));
  }

  async #replace(list: string, source: RuleSource, rules: ListState['rules'][RuleSource]): Promise<void> {
    const errors = await this.parts.lists.replace(list, source, rules);
    // A busy process may have the time at the next poll.
    if (errors.some(({ code }) => code === 'late_plan'))
      (source === 'api' ? this.#versions : this.#read).delete(list);
    if (errors.length > 0) this.#refuse(list, source, errors);
    else
      this.parts.logger.info(
        { list, source, rules: rules.length },
        'the rules of a curation list were replaced',
      );
  }

  #refuse(list: string, source: RuleSource, errors: readonly Diagnostic[]): void {
    this.parts.lists.refuse(list, source, errors);
    for (const { at, code, message, help } of errors) {
      const { line, column } = at.file.position(at.start);
      this.parts.logger.error({ list, source, file: at.file.path, line, column, code, help }, message);
    }
    this.parts.logger.error(
      { list, source },
      'the new rules of a curation list have errors; the old ones go on serving',
    );
  }

  async #stampOf({ path }: ListState): Promise<string> {
    try {
      const { dev, ino, size, mtimeMs, ctimeMs } = await stat(join(this.parts.root, path));
      return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
    } catch {
      return 'missing';
    }
  }
}
