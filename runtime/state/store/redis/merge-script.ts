import { createHash } from 'node:crypto';

/**
 * `mergeSegment` of feature-record.ts as a server-side script, so that it is atomic. ARGV: the segment, the time in
 * epoch milliseconds, and perhaps the row that it may replace (empty: there must be none). Lua counts from 1: length at 1, view at 5, layout at 13, event time at 21, body at 29. The first part
 * handles the usual cases (a row replaces a row, or the record has no tombstones) in half the time of the general part. A
 * record that has only tombstones expires. Returns 1 if the segment was stored, 0 if the record has a later one,
 * 2 if it has another row than the one that may be replaced.
 */
export const MERGE_SCRIPT = `
local record = redis.call('GET', KEYS[1]) or ''
local segment = ARGV[1]
local replaces = ARGV[3]
local none = '\\0\\0\\0\\0\\0\\0\\0\\0'
local _, view, layout, time = struct.unpack('<I4c8c8d', segment)
local isRow = layout ~= none or #segment < 36

local isPlain = isRow
local at = 1
while isRow and at + 27 <= #record do
  local length, other, layout, there = struct.unpack('<I4c8c8d', record, at)
  local after = at + length
  if length < 28 or after > #record + 1 then after = #record + 1 end
  if other == view then
    if replaces and string.sub(record, at, after - 1) ~= replaces then return 2 end
    if there > time then return 0 end
    redis.call('SET', KEYS[1], string.sub(record, 1, at - 1) .. segment .. string.sub(record, after))
    return 1
  end
  if layout == none then isPlain = false end
  at = after
end
if replaces and #replaces > 0 then return 2 end
if isPlain then
  redis.call('SET', KEYS[1], segment .. record)
  return 1
end

local now = tonumber(ARGV[2])
local twin = string.char(255 - string.byte(view)) .. string.sub(view, 2)
local expiry = nil
if not isRow then expiry = struct.unpack('<d', segment, 29) end
local pieces = {}
local isPlaced = false
at = 1
while at + 27 <= #record do
  local length, other, layout, there = struct.unpack('<I4c8c8d', record, at)
  local after = at + length
  if length < 28 or after > #record + 1 then after = #record + 1 end
  local forget = nil
  if layout == none and after - at >= 36 then forget = struct.unpack('<d', record, at + 28) end
  if not forget or forget > now then
    if other ~= view and other ~= twin then
      pieces[#pieces + 1] = string.sub(record, at, after - 1)
      if expiry then expiry = forget and math.max(expiry, forget) end
    else
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

/** Its name for EVALSHA. */
export const MERGE_SHA = createHash('sha1').update(MERGE_SCRIPT).digest('hex');
