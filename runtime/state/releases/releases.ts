import { MillraceError } from '../../ground/api/errors.js';
import { readStored, removeObject, writeObject } from '../../ground/core/stored-files.js';
import { releasePartKey, releasesKey } from '../store/keys.js';
import type { Store } from '../store/store.js';
import { unconfirmed } from '../store/unconfirmed.js';
import { ReleaseDamagedError, unpackFiles, type ReleaseFile } from './release-archive.js';
import {
  decodeIndex,
  encodeIndex,
  withRelease,
  type Release,
  type ReleaseIndex,
  type Rollback,
} from './release-index.js';

/** Bytes of one record. Redis answers other commands between two of them. */
const PART = 256 * 1024;
const MOST_TRIES = 20;

/** Where archives go that are too large for the store. */
export interface LargeReleases {
  /** `s3://bucket/prefix` */
  readonly path: string;
  /** The most bytes of an archive in the store. */
  readonly above: number;
  readonly findPackage: (name: string) => string | undefined;
}

/** The last projects that were served, in the store that all instances share. */
export class Releases {
  /** @param prefix the start of every store key */
  constructor(
    private readonly store: Pick<Store, 'read' | 'write' | 'remove' | 'swap'>,
    private readonly prefix: string,
    private readonly large?: LargeReleases,
  ) {}

  /** @throws MillraceError release_unusable, or a code of STORE_READ_FAILURES */
  async read(): Promise<ReleaseIndex> {
    const [record = null] = await this.store.read([releasesKey(this.prefix)]);
    return this.#decoded(record);
  }

  /**
   * Keeps a release as the one that is served now. Its files are stored before the list names it.
   * @param packed its files; undefined if only the list changes
   * @throws StoreWriteError; MillraceError store_busy, or a code of STORE_READ_FAILURES
   */
  async keep(release: Omit<Release, 'parts'>, packed: Buffer | undefined): Promise<void> {
    const { large } = this;
    const isLarge = packed !== undefined && large !== undefined && packed.length > large.above;
    const object = isLarge ? `${large.path.replace(/\/$/, '')}/${release.version}.release` : undefined;
    if (isLarge && object !== undefined) await writeObject(object, packed, large);
    const parts = packed === undefined ? 0 : isLarge ? 1 : Math.ceil(packed.length / PART);
    for (let at = 0; at < parts && !isLarge; at++)
      await this.store.write([
        {
          key: releasePartKey(this.prefix, release.version, at),
          value: packed?.subarray(at * PART, (at + 1) * PART) ?? Buffer.alloc(0),
        },
      ]);
    let dropped: readonly Release[] = [];
    await this.#change((index) => {
      const known = index.releases.find(({ version }) => version === release.version);
      const isKept = parts === 0 && known !== undefined && known.parts > 0;
      const next = withRelease(
        index,
        isKept
          ? { ...known, time: release.time }
          : { ...release, parts, ...(object === undefined ? {} : { object }) },
      );
      ({ dropped } = next);
      return next.index;
    });
    const keys = dropped.flatMap(({ version, object: its, parts: count }) =>
      Array.from({ length: its === undefined ? count : 0 }, (_, at) =>
        releasePartKey(this.prefix, version, at),
      ),
    );
    for (const { object: its } of dropped) if (its !== undefined) await removeObject(its, large);
    if (keys.length > 0) await this.store.remove(keys);
  }

  /** Reads the files of a release. @throws ReleaseDamagedError; MillraceError with a code of STORE_READ_FAILURES */
  async load(release: Release): Promise<ReleaseFile[]> {
    if (release.object !== undefined) {
      const packed = await readStored(release.object, this.large).catch((error: unknown) => {
        throw new ReleaseDamagedError((error as Error).message);
      });
      return unpackFiles(packed, release);
    }
    const parts: Buffer[] = [];
    for (let at = 0; at < release.parts; at++) {
      const [part = null] = await this.store.read([releasePartKey(this.prefix, release.version, at)]);
      if (part === null) throw new ReleaseDamagedError('a part of it is missing in the store');
      parts.push(part);
    }
    return unpackFiles(Buffer.concat(parts), release);
  }

  /** Makes all instances serve a release. @throws MillraceError store_busy, or a code of STORE_WRITE_FAILURES */
  async rollBack(version: string, now: number): Promise<Rollback> {
    const rollback = { version, since: now };
    await confirmed(
      'The rollback',
      this.#change(({ releases }) => ({ releases, rollback })),
    );
    return rollback;
  }

  /** Makes all instances serve their files again. @throws as `rollBack` */
  async end(): Promise<void> {
    await confirmed(
      'The end of the rollback',
      this.#change(({ releases }) => ({ releases })),
    );
  }

  async #change(change: (before: ReleaseIndex) => ReleaseIndex): Promise<void> {
    const key = releasesKey(this.prefix);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [before = null] = await this.store.read([key]);
      const after = encodeIndex(change(this.#decoded(before)));
      const [outcome] = await this.store.swap([{ key, before, after }]);
      if (outcome === 'stored') return;
    }
    throw new MillraceError('store_busy', 'Other processes keep changing the list of releases; try again');
  }

  #decoded(record: Buffer | null): ReleaseIndex {
    const index = decodeIndex(record);
    if (index !== undefined) return index;
    throw new MillraceError(
      'release_unusable',
      'the stored list of releases cannot be read: it is damaged, or of a later version of Millrace',
    );
  }
}

async function confirmed(what: string, write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw unconfirmed(what, error);
  }
}
