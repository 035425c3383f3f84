import { webcrypto } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, posix, resolve } from 'node:path';
import type { ProjectFile } from '../../ground/api/build-context.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { ObjectError } from '../../ground/core/object-error.js';
import { packageFinder } from '../../ground/core/find-package.js';
import { nearest } from '../../ground/core/nearest.js';
import { isObjectPath, readStored } from '../../ground/core/stored-files.js';
import { isWithin, LinkedFolders } from '../../project/settings/linked-folders.js';
import { reasonOf, whyNoFile } from '../../project/config/project/project-files.js';
import type { Located } from '../../project/config/yaml/source.js';

/** First 12 hex digits of the SHA-256 of some bytes. */
export async function contentVersion(content: Uint8Array): Promise<string> {
  // webcrypto works outside the event loop. A model may have a hundred megabytes.
  const digest = await webcrypto.subtle.digest('SHA-256', content);
  return Buffer.from(digest, 0, 6).toString('hex');
}

/**
 * The files that the options of a project name: model files, vocabularies. A path may be that of an object, `s3://…`. Each file is read once per load, so that all
 * pipelines see the same content.
 */
export class OptionFiles {
  readonly #root: string;
  readonly #linked: LinkedFolders;
  readonly #given: ReadonlyMap<string, Buffer>;
  readonly #files = new Map<string, Promise<ProjectFile | Failure>>();
  readonly #versions = new Map<string, string | undefined>();

  /**
   * @param root the project's folder
   * @param linked the folders that symbolic links of the project may lead to
   * @param given contents by path that replace those of the files, whether or not the files exist
   */
  constructor(root: string, linked = LinkedFolders.none, given: ReadonlyMap<string, Buffer> = new Map()) {
    this.#root = root;
    this.#linked = linked;
    this.#given = given;
  }

  /** Versions of the requested files, by path below the project; undefined for a file that could not be read. */
  get versions(): ReadonlyMap<string, string | undefined> {
    return this.#versions;
  }

  /** @returns undefined if there was an error; it is in `diagnostics` */
  async read(text: Located<string>, diagnostics: Diagnostics): Promise<ProjectFile | undefined> {
    const path = text.value;
    const reading = this.#files.get(path) ?? this.#read(path);
    this.#files.set(path, reading);
    const file = await reading;
    if (!(file instanceof Failure)) return file;
    diagnostics.error('missing_file', text.at, file.message, file.help);
    return undefined;
  }

  /** A file that may be missing. @returns undefined if it cannot be read */
  async find(path: string): Promise<ProjectFile | undefined> {
    const reading = this.#files.get(path) ?? this.#read(path);
    this.#files.set(path, reading);
    const file = await reading;
    return file instanceof Failure ? undefined : file;
  }

  /** Refuses a path outside the project's folder. A link outside is refused too, unless its folder is allowed. */
  async #read(path: string): Promise<ProjectFile | Failure> {
    if (isObjectPath(path)) return this.#readObject(path);
    if (isAbsolute(path) || !isWithin(this.#root, resolve(this.#root, path))) {
      return new Failure(`\`${path}\` is outside the project`, 'give a path below the project folder');
    }
    this.#versions.set(path, undefined);
    const given = this.#given.get(path);
    if (given !== undefined) return this.#toFile(path, given);
    try {
      const real = await this.#linked.follow(this.#root, path);
      if (typeof real !== 'string') return new Failure(real.message, real.help);
      const why = whyNoFile(await stat(real));
      if (why !== undefined) return new Failure(`file \`${path}\` cannot be read: ${why}`);
      return await this.#toFile(path, await readFile(real));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        return new Failure(`file \`${path}\` cannot be read: ${reasonOf(error)}`);
      const near = await this.#nearest(path);
      return new Failure(
        `file \`${path}\` does not exist`,
        near === undefined ? 'paths are relative to the project folder' : `did you mean \`${near}\`?`,
      );
    }
  }

  /** A release holds the objects of its project as files. */
  async #readObject(path: string): Promise<ProjectFile | Failure> {
    this.#versions.set(path, undefined);
    const given = this.#given.get(path) ?? (await readFile(join(this.#root, path)).catch(() => undefined));
    if (given !== undefined) return this.#toFile(path, given);
    try {
      return await this.#toFile(path, await readStored(path, { findPackage: packageFinder(this.#root) }));
    } catch (error) {
      if (!(error instanceof ObjectError)) throw error;
      return new Failure(`\`${path}\` cannot be read: ${error.message}`, error.help);
    }
  }

  async #toFile(path: string, content: Buffer): Promise<ProjectFile> {
    const version = await contentVersion(content);
    this.#versions.set(path, version);
    return { path, content, version };
  }

  /** The file of the same folder with the nearest name. */
  async #nearest(path: string): Promise<string | undefined> {
    const names = await readdir(join(this.#root, dirname(path))).catch(() => []);
    const guess = nearest(basename(path), names);
    return guess && posix.join(posix.dirname(path), guess);
  }
}

/** Why a file was not read. */
class Failure {
  constructor(
    readonly message: string,
    readonly help?: string,
  ) {}
}
