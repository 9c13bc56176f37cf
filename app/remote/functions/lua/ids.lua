-- Ids and other unsigned 64-bit numbers as decimal text, because Lua's numbers are exact up to 2^53 only.
-- Texts are canonical: no leading zeros. Nothing here calls the engine.

local MAX = '18446744073709551615'
local COUNT_MAX = '9223372036854775807'
-- The count that stands for the greatest: older engines add one to it without a check, which may not overflow.
local COUNT_STORED_MAX = '9223372036854000000'
local COUNT_SHOWN_AS_MAX = 9.2e18

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

-- A delivery count as text: the engine's greatest count is beyond Lua's exact numbers.
local function count_text(count)
  if count >= COUNT_SHOWN_AS_MAX then return COUNT_MAX end
  return string.format('%.0f', count)
end

-- A count that a client chose, as it is stored.
local function stored_count(count)
  return tonumber(count) >= COUNT_SHOWN_AS_MAX and COUNT_STORED_MAX or count
end

-- The count after one more delivery; the greatest count stays.
local function one_more(count)
  if count >= COUNT_SHOWN_AS_MAX then return COUNT_STORED_MAX end
  return string.format('%.0f', count + 1)
end
