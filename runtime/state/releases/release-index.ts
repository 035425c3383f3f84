import { isJsonObject } from '../../ground/core/value-fit.js';
import { jsonRecord } from '../store/codec/json-record.js';
import { VERSIONED_HEAD } from '../store/codec/versioned-record.js';

/** Plugin code that a release needs and does not hold. */
export interface ReleaseCode {
  /** The name of a package, or `plugins/name` of the project. */
  readonly name: string;
  /** A hash of its files. */
  readonly version: string;
}

/** A project that was served. */
export interface Release {
  /** See `projectVersion`. */
  readonly version: string;
  /** When an instance last began to serve it, epoch milliseconds. */
  readonly time: number;
  readonly files: number;
  /** Of the unpacked and of the packed archive. */
  readonly bytes: number;
  readonly packed: number;
  /** Of the packed archive, in hex. */
  readonly sha256: string;
  /** The number of records that hold the archive; 0 if it is not kept. */
  readonly parts: number;
  /** The object that holds the archive, `s3://…`; by default the store holds it. */
  readonly object?: string;
  /** Why it is not kept. */
  readonly detail?: string;
  readonly code: readonly ReleaseCode[];
}

/** Instances serve this release instead of their files. */
export interface Rollback {
  readonly version: string;
  /** When it began, epoch milliseconds. */
  readonly since: number;
}

export interface ReleaseIndex {
  /** The one that was served last comes first. */
  readonly releases: readonly Release[];
  readonly rollback?: Rollback;
}

/** How many projects are kept. One to which the service is rolled back is kept beside them. */
export const KEPT_RELEASES = 3;

export const NO_RELEASES: ReleaseIndex = { releases: [] };

const FORMAT = 1;
const VERSION = /^[0-9a-f]{12}$/;

/** The record of all releases: the head of a versioned record without an expiry, and JSON. */
export function encodeIndex({ releases, rollback }: ReleaseIndex): Buffer {
  return jsonRecord({ format: FORMAT, releases, ...(rollback && { rollback }) });
}

/** Returns what a record says; undefined if it is damaged, or of a later format. No record: no releases. */
export function decodeIndex(record: Buffer | null): ReleaseIndex | undefined {
  if (record === null) return NO_RELEASES;
  try {
    const stored = JSON.parse(record.toString('utf8', VERSIONED_HEAD)) as Partial<
      ReleaseIndex & { format: unknown }
    >;
    if (stored.format !== FORMAT || !Array.isArray(stored.releases) || !stored.releases.every(isRelease))
      return undefined;
    const { releases, rollback } = stored;
    if (rollback === undefined) return { releases };
    return VERSION.test(rollback.version) && Number.isFinite(rollback.since)
      ? { releases, rollback: { version: rollback.version, since: rollback.since } }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Adds a release in front, or moves it there. @returns the new list, and what is no longer kept */
export function withRelease(
  { releases, rollback }: ReleaseIndex,
  release: Release,
): { readonly index: ReleaseIndex; readonly dropped: readonly Release[] } {
  const all = [release, ...releases.filter(({ version }) => version !== release.version)];
  const stays = (one: Release, at: number): boolean =>
    at < KEPT_RELEASES || one.version === rollback?.version;
  return {
    index: { releases: all.filter(stays), ...(rollback && { rollback }) },
    dropped: all.filter((one, at) => !stays(one, at)),
  };
}

/**
 * The release to which a rollback without a version goes: the one that was served before the newest. During a rollback it is
 * the one before the release that serves, so a second rollback goes further back.
 * @param current the version that this instance serves
 */
export function releaseBefore({ releases, rollback }: ReleaseIndex, current: string): Release | undefined {
  const at = releases.findIndex(({ version }) => version === current);
  // What is not kept yet is newer than all. Without a rollback, this instance may serve an older project than others do.
  return releases[at < 0 ? 0 : rollback === undefined ? 1 : at + 1];
}

function isRelease(value: unknown): value is Release {
  if (!isJsonObject(value)) return false;
  const { version, time, files, bytes, packed, sha256, parts, object, detail, code } = value;
  const isCount = (one: unknown): boolean => Number.isSafeInteger(one) && Number(one) >= 0;
  return (
    typeof version === 'string' &&
    VERSION.test(version) &&
    [time, files, bytes, packed, parts].every(isCount) &&
    typeof sha256 === 'string' &&
    [object, detail].every((text) => text === undefined || typeof text === 'string') &&
    Array.isArray(code) &&
    code.every(
      (one) => isJsonObject(one) && typeof one['name'] === 'string' && typeof one['version'] === 'string',
    )
  );
}
