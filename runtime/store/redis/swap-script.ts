import { createHash } from 'node:crypto';

/**
 * Replaces a versioned record if it has not changed since it was read. ARGV: the version that was read ('' for none), the
 * new record, its expiry ('' for none). Returns 1 if the new record is stored (also if a resent command finds its own result), otherwise 0.
 */
export const SWAP_SCRIPT = `
local version = redis.call('GETRANGE', KEYS[1], 0, 7)
if version == string.sub(ARGV[2], 1, 8) then return 1 end
if version ~= ARGV[1] then return 0 end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2]) else redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3]) end
return 1
`;

/** Its name for EVALSHA. */
export const SWAP_SHA = createHash('sha1').update(SWAP_SCRIPT).digest('hex');
