import type { LogDefinition } from '../../../project/config/model/pipelines.js';
import { murmur3 } from '../../../ground/core/murmur3.js';
import type { RankingRequest } from '../request/read-request.js';

/** Set before what is hashed, so that no other choice by a hash of the same ids is the same as this one. */
const PURPOSE = 'log';

/** The id of the request's unit; undefined if the request does not name it, or is a unit of its own. */
export function unitOf({ unit }: LogDefinition, { entityIds }: RankingRequest): string | undefined {
  return entityIds.get(unit);
}

/**
 * Whether a request is in the share. All requests of a unit are, or none. A larger share contains the smaller one.
 * Pipelines with the same type of unit choose the same units. A request without a unit is chosen by its own id.
 * @param type the entity type of the unit
 */
export function isInShare(log: LogDefinition, type: string, request: RankingRequest): boolean {
  if (log.share >= 1) return true;
  const unit = unitOf(log, request);
  const key = unit === undefined ? ['request', request.requestId] : [type, unit];
  return murmur3(Buffer.from([PURPOSE, ...key].join('\u0000'))) < log.share * 2 ** 32;
}
