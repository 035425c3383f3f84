import { createHash } from 'node:crypto';

/**
 * `mergeSegment` of feature-record.ts, done in the server so that no other push comes between. Lua counts from 1:
 * length at 1, view at 5, event time at 21, body at 29. Answers 1 if the segment was stored, 0 if the record holds a
 * later one.
 */
export const MERGE_SCRIPT = `
local record = redis.call('GET', KEYS[1])
local segment = ARGV[1]
if not record then
  redis.call('SET', KEYS[1], segment)
  return 1
end
local view = string.sub(segment, 5, 12)
local at = 1
while at + 27 <= #record do
  local length = struct.unpack('<I4', record, at)
  local after = at + length
  if length < 28 or after > #record + 1 then after = #record + 1 end
  if string.sub(record, at + 4, at + 11) == view then
    if struct.unpack('<d', record, at + 20) > struct.unpack('<d', segment, 21) then return 0 end
    redis.call('SET', KEYS[1], string.sub(record, 1, at - 1) .. segment .. string.sub(record, after))
    return 1
  end
  at = after
end
redis.call('SET', KEYS[1], segment .. record)
return 1
`;

/** What EVALSHA calls it. */
export const MERGE_SHA = createHash('sha1').update(MERGE_SCRIPT).digest('hex');
