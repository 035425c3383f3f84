import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { storedFiles } from '../../ground/core/stored-files.js';
import { SEGMENT_ENDING } from '../../ground/sdk/segments.js';
import { version } from '../../project/settings/version.js';
import type { DataFormat } from './table-files.js';
import type { DataSetOptions } from './options.js';

/** What a build is of. A build that was stopped is continued only by one that would do the same. */
export async function buildIdentity(
  ledger: string,
  format: DataFormat,
  options: DataSetOptions,
): Promise<string> {
  const files = await storedFiles(ledger, SEGMENT_ENDING);
  const segments = files.map(({ path, bytes, writtenAt }) => [path, bytes, writtenAt]);
  const text = JSON.stringify([version, format, options, segments], (_, value: unknown) =>
    value instanceof Map || value instanceof Set
      ? [...(value as Iterable<unknown>)]
      : typeof value === 'number'
        ? String(value)
        : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

const DIVIDED = 'divided';
const JOINED = 'joined';

/** Whether a work folder has parts of a build that the same command continues. */
export function isResumable(work: string): boolean {
  return existsSync(join(work, DIVIDED));
}

/**
 * What a build has finished, in its work folder: the division of the ledger, and each partition that was joined. A file
 * gets its name when it is whole, so a build that was killed leaves whole files only.
 */
export class BuildWork<Facts, Part> {
  readonly #folder: string;
  readonly #identity: string | undefined;
  readonly facts: Facts | undefined;

  /**
   * @param folder is emptied, unless a build of the same identity was stopped in it
   * @param identity see `buildIdentity`; undefined for a build that cannot be continued
   */
  constructor(folder: string, identity: string | undefined) {
    this.#folder = folder;
    this.#identity = identity;
    const saved = read(join(folder, DIVIDED)) as
      { readonly identity: string; readonly facts: Facts } | undefined;
    if (saved !== undefined && saved.identity === identity) {
      this.facts = saved.facts;
      return;
    }
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, JOINED), { recursive: true });
  }

  saveFacts(facts: Facts): void {
    if (this.#identity !== undefined) this.#write(DIVIDED, { identity: this.#identity, facts });
  }

  /** The result of a partition that was joined; undefined if it was not. */
  joined(part: number): Part | undefined {
    if (this.facts === undefined) return undefined;
    return read(join(this.#folder, JOINED, String(part))) as Part | undefined;
  }

  saveJoined(part: number, result: Part): void {
    if (this.#identity !== undefined) this.#write(join(JOINED, String(part)), result);
  }

  #write(name: string, value: unknown): void {
    const path = join(this.#folder, name);
    writeFileSync(`${path}.tmp`, serialize(value));
    renameSync(`${path}.tmp`, path);
  }
}

/** @returns undefined if the file is not there, or is not whole, as after a loss of power */
function read(path: string): unknown {
  if (!existsSync(path)) return undefined;
  try {
    return deserialize(readFileSync(path));
  } catch {
    return undefined;
  }
}
