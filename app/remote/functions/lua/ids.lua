-- Ids and other unsigned 64-bit numbers as decimal text, because Lua's numbers are exact up to 2^53 only.
-- Texts are canonical: no leading zeros. Nothing here calls the engine.

local MAX = '18446744073709551615'
local COUNT_MAX = '9223372036854775807'
-- Stored counts of deliveries: the greatest one, the first that stands for a count near the greatest, and the first
-- that Lua does not have exactly. See `counts.py`.
local COUNT_STORED_MAX = 9007000000000000
local COUNT_STORED_NEAR = 9006970000000000
local COUNT_INEXACT = 2^53

local function is_less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local function plus_one(number)
  if #number < 15 then return string.format('%.0f', tonumber(number) + 1) end
  local nines = #string.match(number, '9*$')
  if nines == #number then return '1' .. string.rep('0', nines) end
  local place = #number - nines
  local raised = string.char(string.byte(number, place) + 1)
  return string.sub(number, 1, place - 1) .. raised .. string.rep('0', nines)
end

local function split_id(id)
  local ms, seq = string.match(id, '^(%d+)%-(%d+)$')
  return ms, seq
end

local function is_id_less(a, b)
  local a_ms, a_seq = split_id(a)
  local b_ms, b_seq = split_id(b)
  if a_ms ~= b_ms then return is_less(a_ms, b_ms) end
  return is_less(a_seq, b_seq)
end

-- The id after this one, nil after the greatest.
local function next_id(id)
  local ms, seq = split_id(id)
  if seq ~= MAX then return ms .. '-' .. plus_one(seq) end
  if ms ~= MAX then return plus_one(ms) .. '-0' end
  return nil
end

-- The delivery count, as text, that a stored one stands for. Counts that Lua does not have exactly are rounded.
local function count_text(count)
  if count >= 2^63 then return COUNT_MAX end
  if count < COUNT_STORED_NEAR or count >= COUNT_INEXACT then return string.format('%.0f', count) end
  -- The last twelve digits of the greatest count are more than any distance from it.
  local distance = math.max(COUNT_STORED_MAX - count, 0)
  return '9223372' .. string.format('%012.0f', 36854775807 - distance)
end

-- The stored count after one more delivery, as text; the greatest count stays. Nil: only the engine can add exactly.
local function one_more(count)
  if count >= COUNT_INEXACT then return nil end
  return string.format('%.0f', math.min(count + 1, math.max(count, COUNT_STORED_MAX)))
end
