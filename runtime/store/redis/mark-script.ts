import { createHash } from 'node:crypto';

/** Adds ids to a set that expires. ARGV: when it expires in epoch milliseconds, and the ids. Returns 1. */
export const MARK_SCRIPT = `
redis.call('SADD', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
return 1
`;

/** Its name for EVALSHA. */
export const MARK_SHA = createHash('sha1').update(MARK_SCRIPT).digest('hex');
