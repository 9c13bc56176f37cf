-- The first phase of XREADGROUP with CLAIM: the pending entries that are idle long enough, longest idle first.
--
-- The engine lists idle entries by id. A window of them is sorted by idle time, so the order is exact if no more than
-- a window are idle. Entries that were deleted stay pending, as in the engine's own CLAIM; XCLAIM would drop them.

local WINDOW = 1000
local CLAIMED_MAX = 5000
local EXAMINED_ROWS_MAX = 20000

-- A window of idle rows from `from` on, longest idle first. Returns them and where the next window begins, if any.
local function idle_window(stream, group, min_idle, from, size)
  local rows = redis.call('XPENDING', stream, group, 'IDLE', min_idle, from, '+', size)
  local following = #rows == size and '(' .. rows[size][1] or nil
  for index, row in ipairs(rows) do
    row.place = index
    -- An entry that the engine's own XNACK returned is idle since 1970.
    if row[3] < 0 then row[3] = now_ms() end
  end
  table.sort(rows, function(a, b)
    if a[3] ~= b[3] then return a[3] > b[3] end
    return a.place < b.place
  end)
  return rows, following
end

-- Chooses up to `wanted` live entries within the budget, as {id, fields, idle, deliveries}. Moves those before them
-- that may not be delivered again; the choice ends before one that cannot be moved.
local function choose_idle(stream, group, min_idle, wanted, budget, begin, letters)
  local chosen, from, examined = {}, '-', 0
  local size = math.max(WINDOW, wanted)
  while from and examined < EXAMINED_ROWS_MAX do
    local rows, following = idle_window(stream, group, min_idle, from, size)
    for _, row in ipairs(rows) do
      if #chosen == wanted then return chosen end
      local found = redis.call('XRANGE', stream, row[1], row[1])[1]
      if found and dead_letters.is_exhausted(letters, row[4], found[2]) then
        if not dead_letters.move(letters, row, found[2]) then return chosen end
      elseif found then
        begin()
        if is_spent(budget) then return chosen end
        local entry = {row[1], found[2], row[3], count_text(row[4]), one_more(row[4])}
        spend(budget, entry, true)
        chosen[#chosen + 1] = entry
      end
    end
    from, examined = following, examined + #rows
  end
  return chosen
end

-- Gives entries to the consumer with their new counts, a command for each count. Without a count, the engine adds one.
local function give(stream, group, consumer, entries)
  local by_count, counts = {}, {}
  for _, entry in ipairs(entries) do
    local count = entry[5] or ''
    if not by_count[count] then
      by_count[count] = {}
      counts[#counts + 1] = count
    end
    table.insert(by_count[count], entry[1])
  end
  for _, count in ipairs(counts) do
    in_chunks(by_count[count], ARGUMENTS_MAX, function(chunk)
      local words = {'XCLAIM', stream, group, consumer, '0'}
      for _, id in ipairs(chunk) do words[#words + 1] = id end
      for _, word in ipairs(count ~= '' and {'RETRYCOUNT', count, 'JUSTID'} or {}) do words[#words + 1] = word end
      redis.call(unpack(words))
    end)
  end
end

local function claim_idle(read, stream, count, begin, min_idle, letters)
  local wanted = math.min(count, read.budget.entries, CLAIMED_MAX)
  if wanted <= 0 then return {} end
  local entries = choose_idle(stream, read.group, min_idle, wanted, read.budget, begin, letters)
  give(stream, read.group, read.consumer, entries)
  for _, entry in ipairs(entries) do entry[5] = nil end
  return entries
end
