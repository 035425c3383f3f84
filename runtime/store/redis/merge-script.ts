import { createHash } from 'node:crypto';

/**
 * `mergeSegment` of feature-record.ts, done in the server so that no other push comes between. ARGV: the segment, and
 * now in epoch milliseconds. Lua counts from 1: length at 1, view at 5, layout at 13, event time at 21, body at 29. A
 * record of tombstones alone expires. Answers 1 if the segment was stored, 0 if the record holds a later one.
 */
export const MERGE_SCRIPT = `
local record = redis.call('GET', KEYS[1]) or ''
local segment = ARGV[1]
local now = tonumber(ARGV[2])
local none = string.rep('\\0', 8)
local function forgetTime(bytes, at, after)
  if after - at < 36 or string.sub(bytes, at + 12, at + 19) ~= none then return nil end
  return (struct.unpack('<d', bytes, at + 28))
end
local view = string.sub(segment, 5, 12)
local twin = string.char(255 - string.byte(view)) .. string.sub(view, 2)
local time = struct.unpack('<d', segment, 21)
local expiry = forgetTime(segment, 1, #segment + 1)
local isRow = not expiry
local pieces = {}
local isPlaced = false
local at = 1
while at + 27 <= #record do
  local after = at + struct.unpack('<I4', record, at)
  if after < at + 28 or after > #record + 1 then after = #record + 1 end
  local forget = forgetTime(record, at, after)
  if not forget or forget > now then
    local other = string.sub(record, at + 4, at + 11)
    if other ~= view and other ~= twin then
      pieces[#pieces + 1] = string.sub(record, at, after - 1)
      if expiry then expiry = forget and math.max(expiry, forget) end
    else
      local there = struct.unpack('<d', record, at + 20)
      if there > time or (there == time and isRow and forget) then return 0 end
      if not isPlaced then pieces[#pieces + 1] = segment end
      isPlaced = true
    end
  end
  at = after
end
if not isPlaced then table.insert(pieces, 1, segment) end
pieces[#pieces + 1] = string.sub(record, at)
if expiry then
  redis.call('SET', KEYS[1], table.concat(pieces), 'PXAT', string.format('%.0f', math.ceil(expiry)))
else
  redis.call('SET', KEYS[1], table.concat(pieces))
end
return 1
`;

/** What EVALSHA calls it. */
export const MERGE_SHA = createHash('sha1').update(MERGE_SCRIPT).digest('hex');
