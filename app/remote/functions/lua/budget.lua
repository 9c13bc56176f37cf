-- How much more one read may return: entries over all streams, and bytes of its reply as RESP2 has it.
--
-- The bytes are a soft limit, tested before each entry but the first; they are counted in Redis's order: a stream's
-- array and key before its first entry, the length of its entries after the last one.

local function array_size(length) return 3 + #tostring(length) end
local function bulk_size(length) return 5 + #tostring(length) + length end
local function integer_size(text) return 3 + #text end

local function fields_size(fields)
  if not fields then return 5 end
  local size = array_size(#fields)
  for _, word in ipairs(fields) do size = size + bulk_size(#word) end
  return size
end

local function entry_size(entry, is_claim)
  local size = array_size(is_claim and 4 or 2) + bulk_size(#entry[1]) + fields_size(entry[2])
  if is_claim then size = size + integer_size(string.format('%.0f', entry[3])) + integer_size(entry[4]) end
  return size
end

local function new_budget(entries, bytes)
  return {entries = entries, bytes = bytes, used = 0, served = 0}
end

local function is_spent(budget)
  if budget.entries <= 0 then return true end
  return budget.bytes ~= nil and budget.served > 0 and budget.used >= budget.bytes
end

local function begin_stream(budget, stream)
  budget.used = budget.used + array_size(2) + bulk_size(#stream)
end

local function end_stream(budget, count)
  budget.used = budget.used + array_size(count)
end

local function spend(budget, entry, is_claim)
  budget.used = budget.used + (budget.bytes and entry_size(entry, is_claim) or 0)
  budget.entries = budget.entries - 1
  budget.served = budget.served + 1
end
