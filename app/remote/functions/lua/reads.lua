-- XREADGROUP over several streams of one slot: new entries with CLAIM, or a consumer's own, within one budget.

local PEEKED = 50

-- How many new entries fit into the budget, at most `wanted`. Only asked where bytes count.
local function fitting(stream, position, wanted, budget, is_claim, begin)
  local from, count = '(' .. position, 0
  if position == GREATEST_ID then return 0 end
  while count < wanted do
    local rows = redis.call('XRANGE', stream, from, '+', 'COUNT', math.min(PEEKED, wanted - count))
    for _, row in ipairs(rows) do
      begin()
      if is_spent(budget) then return count end
      spend(budget, {row[1], row[2], 0, '0'}, is_claim)
      count = count + 1
    end
    if #rows < PEEKED then return count end
    from = '(' .. rows[#rows][1]
  end
  return count
end

local function read_from(read, stream, after, count)
  local words = {'XREADGROUP', 'GROUP', read.group, read.consumer, 'COUNT', count}
  if read.noack then words[#words + 1] = 'NOACK' end
  for _, word in ipairs({'STREAMS', stream, after}) do words[#words + 1] = word end
  local found = redis.call(unpack(words))
  return found and found[1][2] or {}
end

local function deliver_new(read, stream, count, begin)
  local budget = read.budget
  local wanted = math.min(count, budget.entries)
  if budget.bytes then
    wanted = fitting(stream, position_of(stream, read.group), wanted, budget, read.claim ~= '', begin)
  end
  if wanted <= 0 then return {} end
  local entries = read_from(read, stream, '>', wanted)
  if not budget.bytes then
    for _, entry in ipairs(entries) do spend(budget, entry, false) end
  end
  for _, entry in ipairs(entries) do entry[3], entry[4] = 0, '0' end
  return entries
end

-- Once a stream has something to return, its key counts.
local function beginner(budget, stream)
  local begun = {}
  local function begin()
    if not begun[1] then begin_stream(budget, stream) end
    begun[1] = true
  end
  return begin, begun
end

-- From which idle time on a read claims entries: its own, or else that of the group. Nil: it claims none.
local function min_idle_of(read, stream, settings)
  if read.claim ~= '' then return read.claim end
  if read.noack or read.claims_by_itself then return nil end
  return group_settings.of(stream, settings, read.group).claim_min_idle_ms
end

local function read_new(read, stream, settings)
  local begin, begun = beginner(read.budget, stream)
  local entries = {}
  local min_idle = min_idle_of(read, stream, settings)
  if min_idle then
    local letters = dead_letters.of(stream, settings, read.group)
    entries = claim_idle(read, stream, read.count, begin, min_idle, letters)
  end
  local left = read.count - #entries
  local last
  if left > 0 then
    for _, entry in ipairs(deliver_new(read, stream, left, begin)) do
      entries[#entries + 1], last = entry, entry[1]
    end
  end
  if begun[1] then end_stream(read.budget, #entries) end
  local is_cut = begun[1] and #entries == 0
  return {'n', is_cut and 1 or 0, last or position_of(stream, read.group), entries}
end

-- The consumer's own pending entries after an id, as many as fit.
local function read_history(read, stream, after, settings)
  local budget, entries = read.budget, {}
  local wanted = math.min(read.count, budget.entries)
  local letters = dead_letters.of(stream, settings, read.group)
  local to = letters and dead_letters.clear_history(letters, read.consumer, after, wanted)
  local rows = redis.call('XPENDING', stream, read.group, '(' .. after, to and '(' .. to or '+', wanted, read.consumer)
  begin_stream(budget, stream)
  for _, row in ipairs(rows) do
    if is_spent(budget) then break end
    local found = redis.call('XRANGE', stream, row[1], row[1])[1]
    local entry = {row[1], found and found[2] or false, row[3], count_text(row[4])}
    spend(budget, entry, false)
    entries[#entries + 1] = entry
  end
  end_stream(budget, #entries)
  -- The engine counts the delivery of each live entry, and notes that the consumer was seen.
  if #entries > 0 or (#rows == 0 and not to) then read_from(read, stream, after, math.max(#entries, 1)) end
  return {'h', 0, #entries > 0 and entries[#entries][1] or after, entries}
end

local function unread(read, stream, after)
  if after == '>' then return {'u', 0, position_of(stream, read.group), {}} end
  return {'v', 0, after, {}}
end

-- The streams of a read, and the hashes of their settings, if the gateway passes them.
local function streams_and_settings(keys, has_settings)
  if not has_settings then return keys, {} end
  local half = #keys / 2
  return {unpack(keys, 1, half)}, {unpack(keys, half + 1)}
end

local function check_groups(streams, group)
  for _, stream in ipairs(streams) do
    local answer = redis.pcall('XPENDING', stream, group, '-', '+', 1)
    if answer.err and string.sub(answer.err, 1, 7) == 'NOGROUP' then
      error({err = answer.err .. ' in XREADGROUP with GROUP option'})
    elseif answer.err then
      error(answer)
    end
  end
end

local function read_group(keys, args)
  local bytes = args[5] ~= '' and tonumber(args[5]) or nil
  local streams, settings = streams_and_settings(keys, args[8] == '1')
  local read = {
    group = args[1], consumer = args[2], count = tonumber(args[3]) or math.huge,
    budget = new_budget(tonumber(args[4]), bytes), claim = args[6], noack = args[7] == '1',
    claims_by_itself = args[6] ~= '',
  }
  check_groups(streams, read.group)
  local answer = {'ok'}
  for index, stream in ipairs(streams) do
    local after = args[8 + index]
    if is_spent(read.budget) then
      answer[index + 1] = unread(read, stream, after)
    else
      redis.call('XGROUP', 'CREATECONSUMER', stream, read.group, read.consumer)
      if after == '>' then
        answer[index + 1] = read_new(read, stream, settings[index])
      else
        -- As in Redis, a history read ends claiming for the streams after it.
        read.claim = ''
        answer[index + 1] = read_history(read, stream, after, settings[index])
      end
    end
  end
  return answer
end

local function count_unread(stream, name, most)
  -- The engine answers a range of COUNT 0 with nil.
  if most <= 0 then return 0 end
  for _, group in ipairs(groups_of(stream)) do
    if group.name == name then
      -- An engine may not know the number after a deletion, and one below 0 is wrong.
      if group.lag and group.lag >= 0 and info(stream)['max-deleted-entry-id'] == '0-0' then return math.min(group.lag, most) end
      local position = group['last-delivered-id']
      if position == GREATEST_ID then return 0 end
      return #redis.call('XRANGE', stream, '(' .. position, '+', 'COUNT', most)
    end
  end
end

-- How many new entries a read of the group could return, at most `most`, and whether it could claim one.
local function available(keys, args)
  local streams, settings = streams_and_settings(keys, args[6] == '1')
  local read = {group = args[1], claim = args[4], noack = args[5] == '1', claims_by_itself = args[4] ~= ''}
  local most, count, can_claim = tonumber(args[3]), 0, 0
  check_groups(streams, read.group)
  for index, stream in ipairs(streams) do
    redis.call('XGROUP', 'CREATECONSUMER', stream, read.group, args[2])
    local min_idle = min_idle_of(read, stream, settings[index])
    for _, row in ipairs(min_idle and idle_window(stream, read.group, min_idle, '-', WINDOW) or {}) do
      if is_live(stream, row[1]) then
        can_claim = 1
        break
      end
    end
    count = count + count_unread(stream, read.group, most - count)
  end
  return {'ok', count, can_claim}
end
