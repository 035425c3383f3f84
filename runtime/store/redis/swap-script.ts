import { createHash } from 'node:crypto';

/**
 * Replaces a versioned record if it is still the one that was read, so that no other write comes between.
 * ARGV: the version that was read ('' for none), the new record, its expiry. Answers 1 if the new record is there (also
 * where a resent command finds its own work), 0 if another is.
 */
export const SWAP_SCRIPT = `
local version = redis.call('GETRANGE', KEYS[1], 0, 7)
if version == string.sub(ARGV[2], 1, 8) then return 1 end
if version ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
return 1
`;

/** What EVALSHA calls it. */
export const SWAP_SHA = createHash('sha1').update(SWAP_SCRIPT).digest('hex');
