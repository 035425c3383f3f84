import type { Logger } from 'pino';
import { PROJECT_FILE } from '../../../project/settings/setting-origin.js';
import type { Settings } from '../../../project/settings/settings.js';
import type { CompiledProject } from './compile-project.js';
import type { ProjectFileChanges } from './project-file-changes.js';
import type { Reload } from './reloader.js';
import { listFiles, versionOfFile, type Snapshot } from './snapshot.js';

export interface WatcherOptions {
  /** The project's folder. */
  readonly root: string;
  /** The time between two polls, in milliseconds. Files must also be stable for this time before a change counts. */
  readonly pollMs: number;
  /** The versions of the files that options name, as they were loaded. */
  readonly files: CompiledProject['files'];
  readonly reload: () => Promise<Reload>;
  /**
   * Called when the content of millrace.yaml changed: its settings apply after a restart. Resolves with true if the part
   * that a reload applies has changed.
   */
  readonly onProjectFileChanged: () => boolean | Promise<boolean>;
}

/** The service that reloads when the files of its project change. */
export interface Watched {
  readonly logger: Logger;
  readonly fileChanges: ProjectFileChanges;
  /** See `WatcherOptions`. */
  readonly files: CompiledProject['files'];
  reload(): Promise<Reload>;
}

/**
 * Records the files of a project before they are loaded.
 * @returns a function that starts the watch after they are loaded
 */
export async function watchProject({
  project: root,
  reloadPollMs: pollMs,
}: Settings): Promise<(watched: Watched) => ProjectWatcher> {
  const loaded = await versionsOf(root, await listFiles(root, []));
  return (watched) => {
    const watcher = new ProjectWatcher(
      {
        root,
        pollMs,
        files: watched.files,
        reload: () => watched.reload(),
        onProjectFileChanged: () => watched.fileChanges.tell(),
      },
      loaded,
    );
    watcher.start();
    // The file can have changed after its settings were read and before its version was recorded.
    void watched.fileChanges.tell();
    return watcher;
  };
}

/**
 * Polls the files of a project. It reloads the project when a file's content has changed and all files were stable since
 * the previous poll. A file that is still being written is therefore not read. It polls because some file systems
 * report no changes (network mounts, volumes of containers).
 */
export class ProjectWatcher {
  readonly #options: WatcherOptions;
  /** The files of the last load: paths with the versions of their content. */
  #tried = new Map<string, string>();
  /** The stamps that belong to `#tried`. */
  #known: Snapshot = new Map();
  #seen: Snapshot = new Map();
  #named: ReadonlySet<string>;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** @param loaded versions of the files that the project was loaded from: see `versionsOf` */
  constructor(options: WatcherOptions, loaded: ReadonlyMap<string, string>) {
    this.#options = options;
    this.#named = new Set(options.files.keys());
    this.#tried = new Map(loaded);
    this.#readNamed(options.files);
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      void this.look().finally(() => this.start());
    }, this.#options.pollMs);
    this.#timer.unref();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Polls once. Reloads if there is a change and the files were stable since the previous poll. */
  async look(): Promise<void> {
    const { root } = this.#options;
    const now = await listFiles(root, this.#named);
    const rests = isSame(now, this.#seen);
    this.#seen = now;
    if (!rests || isSame(now, this.#known)) return;
    const versions = await versionsOf(root, now, this.#known, this.#tried);
    const changed = [...new Set([...versions.keys(), ...this.#tried.keys()])].filter(
      (path) => versions.get(path) !== this.#tried.get(path),
    );
    this.#tried = versions;
    this.#known = now;
    const ofSettings = changed.filter((path) => path === PROJECT_FILE);
    const isOfProject = ofSettings.length > 0 && (await this.#options.onProjectFileChanged());
    if (isOfProject || changed.length > ofSettings.length) this.#reloaded(await this.#options.reload());
  }

  /** After a failure the previous version stays in service, and its files are still watched. */
  #reloaded({ outcome, files }: Reload): void {
    const named = new Set(outcome === 'failed' ? [...this.#named, ...files.keys()] : files.keys());
    for (const path of this.#named) if (!named.has(path)) this.#tried.delete(path);
    this.#named = named;
    this.#readNamed(files);
  }

  /** Records the content that was read as tried, even if the file has changed since the last poll. */
  #readNamed(files: CompiledProject['files']): void {
    const known = new Map(this.#known);
    for (const [path, version] of files) {
      if (this.#tried.get(path) === version) continue;
      known.delete(path); // its stamp belongs to other content
      if (version === undefined) this.#tried.delete(path);
      else this.#tried.set(path, version);
    }
    this.#known = known;
  }
}

/** Returns the versions of all files of a snapshot. Files with a known stamp are not read. */
export async function versionsOf(
  root: string,
  files: Snapshot,
  known: Snapshot = new Map(),
  versions: ReadonlyMap<string, string> = new Map(),
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [path, stamp] of files) {
    const old = known.get(path) === stamp ? versions.get(path) : undefined;
    const version = old ?? (await versionOfFile(root, path));
    if (version !== undefined) found.set(path, version);
  }
  return found;
}

function isSame(a: Snapshot, b: Snapshot): boolean {
  if (a.size !== b.size) return false;
  for (const [path, stamp] of a) if (b.get(path) !== stamp) return false;
  return true;
}
