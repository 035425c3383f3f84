import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TESTS_FOLDER } from '../files/load-tests.js';
import { readSnapshots, snapshotText, type SnapshotEntry } from '../check/snapshot.js';

export const SNAPSHOTS_FOLDER = `${TESTS_FOLDER}/snapshots`;

/** The snapshots of a project: tests/snapshots/<test>.yaml. */
export class SnapshotFiles {
  readonly #root: string;
  readonly #write: (path: string, content: string) => Promise<void>;
  readonly #files = new Map<string, Map<string, SnapshotEntry>>();
  readonly #changed = new Set<string>();
  readonly #asked = new Map<string, Set<string>>();
  /** Cases whose snapshot was written. */
  written = 0;

  /** @param write replaces a whole file */
  constructor(root: string, write: (path: string, content: string) => Promise<void>) {
    this.#root = root;
    this.#write = write;
  }

  /** The snapshot of a case; undefined if there is none. @throws Error if the file cannot be read */
  async get(test: string, name: string): Promise<SnapshotEntry | undefined> {
    const asked = this.#asked.get(test) ?? new Set();
    this.#asked.set(test, asked.add(name));
    return (await this.#fileOf(test)).get(name);
  }

  /** Replaces the snapshot of a case; `save` writes it. Also works if the file cannot be read. */
  async set(test: string, name: string, entry: SnapshotEntry): Promise<void> {
    const file = await this.#fileOf(test).catch(() => new Map<string, SnapshotEntry>());
    this.#files.set(test, file.set(name, entry));
    this.#changed.add(test);
    this.written++;
  }

  /**
   * Finds snapshots that no case asked for.
   * @param removes whether to remove them; `save` writes the files
   */
  async obsolete(removes: boolean): Promise<string[]> {
    const obsolete: string[] = [];
    for (const test of await this.#names()) {
      const file = await this.#fileOf(test).catch(() => new Map<string, SnapshotEntry>());
      for (const name of [...file.keys()].filter((one) => this.#asked.get(test)?.has(one) !== true)) {
        obsolete.push(name);
        if (!removes) continue;
        file.delete(name);
        this.#changed.add(test);
      }
    }
    return obsolete;
  }

  async save(): Promise<void> {
    for (const test of this.#changed) {
      const file = this.#files.get(test) ?? new Map<string, SnapshotEntry>();
      const path = this.#pathOf(test);
      if (file.size === 0) await rm(path, { force: true });
      else await this.#write(path, snapshotText(file));
    }
  }

  async #names(): Promise<string[]> {
    const names = await readdir(join(this.#root, SNAPSHOTS_FOLDER)).catch(() => []);
    return names.filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -'.yaml'.length));
  }

  #pathOf(test: string): string {
    return join(this.#root, SNAPSHOTS_FOLDER, `${test}.yaml`);
  }

  async #fileOf(test: string): Promise<Map<string, SnapshotEntry>> {
    const known = this.#files.get(test);
    if (known !== undefined) return known;
    let file = new Map<string, SnapshotEntry>();
    try {
      file = readSnapshots(await readFile(this.#pathOf(test), 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    this.#files.set(test, file);
    return file;
  }
}
