import { field } from '../../ground/core/body-fields.js';
import type { Release, Rollback } from './release-index.js';

/** The body of a rollback. Null is the release that was served before; a version that is left out may be misspelt. */
export const ROLLBACK_BODY = {
  version: field(
    { type: ['string', 'null'] },
    (value): value is string | null => value === null || typeof value === 'string',
    'the version of a release, or null for the one before',
  ),
};

/** The body of the end of a rollback: it has no fields. */
export const ROLLBACK_END_BODY = {};

/** A release as clients see it. */
export interface ReleaseState {
  readonly version: string;
  /** When an instance last began to serve it, ISO 8601. */
  readonly served: string;
  readonly is_kept: boolean;
  /** Why it is not kept; null if it is. */
  readonly detail: string | null;
  /** Bytes of its files, packed. */
  readonly packed_bytes: number;
  /** The packages and the folders of plugins whose code it needs and does not hold. */
  readonly code: readonly string[];
}

export interface RollbackState {
  readonly version: string;
  /** ISO 8601. */
  readonly since: string;
}

export interface ReleaseList {
  /** The version that this instance serves. */
  readonly serving: string;
  /** The rollback that holds reloads; null if there is none. */
  readonly rollback: RollbackState | null;
  /** The one that was served last comes first. */
  readonly releases: readonly ReleaseState[];
}

/** Code that a release needs and does not hold. */
export interface NotCarried {
  /** The name of a package, or `plugins/name`. */
  readonly name: string;
  /** Whether this instance has the code that the release was served with. */
  readonly is_same: boolean;
}

/** The answer to a rollback. */
export interface RolledBack {
  readonly version: string;
  /** The version that this instance served before. */
  readonly version_before: string;
  readonly since: string;
  readonly not_carried: readonly NotCarried[];
}

/** The answer to the end of a rollback. */
export interface RollbackEnd {
  /** The version that this instance serves now. */
  readonly version: string;
  /** The version to which the service was rolled back; null if it was not. */
  readonly version_before: string | null;
}

export function releaseState({ version, time, parts, detail, packed, code }: Release): ReleaseState {
  return {
    version,
    served: new Date(time).toISOString(),
    is_kept: parts > 0,
    detail: detail ?? null,
    packed_bytes: packed,
    code: code.map(({ name }) => name),
  };
}

export function rollbackState({ version, since }: Rollback): RollbackState {
  return { version, since: new Date(since).toISOString() };
}
