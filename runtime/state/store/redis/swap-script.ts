import { createHash } from 'node:crypto';

/**
 * Replaces a record if it has not changed since it was read, and if no id is in one of the sets beside it. KEYS: the record
 * and the sets. ARGV: what was read ('' for none), the new record, its expiry ('' for none), the number of the last byte
 * that is compared (7: the version; -1: the whole record), and for each set its ids of 8 bytes together. Returns 1 if the
 * new record is stored (also if it is there already, after a resent command), 3 if an id is in a set, otherwise 0.
 */
export const SWAP_SCRIPT = `
local found = redis.call('GETRANGE', KEYS[1], 0, ARGV[4])
if found ~= ARGV[1] then
  if found == string.sub(ARGV[2], 1, ARGV[4] == '7' and 8 or -1) then return 1 end
  return 0
end
for set = 2, #KEYS do
  local all = ARGV[set + 3]
  local ids = {}
  for at = 1, #all, 8 do ids[#ids + 1] = string.sub(all, at, at + 7) end
  for _, found in ipairs(redis.call('SMISMEMBER', KEYS[set], unpack(ids))) do
    if found == 1 then return 3 end
  end
end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2]) else redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3]) end
return 1
`;

/** Its name for EVALSHA. */
export const SWAP_SHA = createHash('sha1').update(SWAP_SCRIPT).digest('hex');
