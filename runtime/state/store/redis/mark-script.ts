import { createHash } from 'node:crypto';

/** Adds ids to a set that expires. ARGV: when it expires in epoch milliseconds, and the ids of 8 bytes together. Returns 1. */
export const MARK_SCRIPT = `
local ids = {}
for at = 1, #ARGV[2], 8 do ids[#ids + 1] = string.sub(ARGV[2], at, at + 7) end
redis.call('SADD', KEYS[1], unpack(ids))
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
return 1
`;

/** Its name for EVALSHA. */
export const MARK_SHA = createHash('sha1').update(MARK_SCRIPT).digest('hex');
