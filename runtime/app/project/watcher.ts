import type { Logger } from 'pino';
import type { Settings } from '../../settings/settings.js';
import type { CompiledProject } from './compile-project.js';
import type { Reload } from './reloader.js';
import { isOfPlugin, listFiles, versionOfFile, type Snapshot } from './snapshot.js';

export interface WatcherOptions {
  /** The project's folder. */
  readonly root: string;
  /** Milliseconds between two polls; also how long files must be stable before their change counts. */
  readonly pollMs: number;
  /** Versions of the files that options name, as they were loaded. */
  readonly files: CompiledProject['files'];
  readonly reload: () => Promise<Reload>;
  /** Called with plugins whose code changed: a loaded module keeps its code until a restart. */
  readonly onPluginsChanged: (paths: readonly string[]) => void;
}

/** What reloads when the files of its project change. */
export interface Watched {
  readonly logger: Logger;
  /** See `WatcherOptions`. */
  readonly files: CompiledProject['files'];
  reload(): Promise<Reload>;
}

/**
 * Notes the files of a project before they are loaded.
 * @returns starts to watch them, once they are loaded
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
        onPluginsChanged: (files) =>
          watched.logger.warn(
            { files },
            'plugins are loaded once: restart the service to load their new code',
          ),
      },
      loaded,
    );
    watcher.start();
    return watcher;
  };
}

/**
 * Polls the files of a project, and reloads it when the content of one has changed and all were stable since the poll
 * before: a file that is still being written is not read. It polls because some file systems report no changes (network
 * mounts, volumes of containers).
 */
export class ProjectWatcher {
  readonly #options: WatcherOptions;
  /** The files of the last attempt: paths with the versions of their content. */
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

  /** Polls once. Reloads if there is a change and the files were stable since the poll before. */
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
    // Loaded code cannot be loaded again; the files of a new plugin can be loaded.
    const stuck = changed.filter((path) => isOfPlugin(path) && this.#tried.has(path));
    this.#tried = versions;
    this.#known = now;
    if (stuck.length > 0) this.#options.onPluginsChanged(stuck);
    if (changed.length > stuck.length) this.#reloaded(await this.#options.reload());
  }

  /** After a failure the previous version still serves, and its files are still watched. */
  #reloaded({ outcome, files }: Reload): void {
    const named = new Set(outcome === 'failed' ? [...this.#named, ...files.keys()] : files.keys());
    for (const path of this.#named) if (!named.has(path)) this.#tried.delete(path);
    this.#named = named;
    this.#readNamed(files);
  }

  /** The content that was read counts as tried, even if the file has changed since the last poll. */
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

/** Versions of all files of a snapshot. Files with a known stamp are not read. */
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
