import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { writeWhole } from '../../ground/core/write-whole.js';
import type { ImportCounts } from './import-counts.js';

/** How far an import came, for --resume. */
export interface ImportState {
  /** The cursor of the scan of the old Redis. All keys before it are imported. */
  readonly cursor: string;
  /** The run of that server. Its cursors are only valid within a run. */
  readonly run: string;
  readonly counts: ImportCounts;
}

/** The file with the state of one import: of one old Redis, prefix, list of types and target. */
export class ImportStateFile {
  readonly #path: string;

  /** @param dataDir a folder that this process may write to */
  constructor(dataDir: string, what: readonly unknown[]) {
    const name = createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 32);
    this.#path = join(dataDir, 'loads', `wyvern-${name}.json`);
  }

  /** @throws CommandFailure if the server has restarted since, so that its scan cannot be continued */
  async read(run: string): Promise<ImportState | undefined> {
    let state: ImportState;
    try {
      state = JSON.parse(await readFile(this.#path, 'utf8')) as ImportState;
    } catch {
      return undefined;
    }
    if (state.run === run) return state;
    throw new CommandFailure(
      'the old Redis has restarted since the import was interrupted, so its scan cannot be continued',
      'import again without --resume; entities that are stored already are written again, which is safe',
    );
  }

  async write(state: ImportState): Promise<void> {
    await writeWhole(this.#path, JSON.stringify(state));
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}
