-- XNACK for engines without it, XCLAIM that tells deleted entries, leases, and the oldest delivery of a group.
--
-- A nacked entry belongs to a hidden consumer. Its delivery time is the number of its nack, so that later nacks are
-- later, and all of them are before any time of a clock.

-- The stored count of a nacked entry, as text.
local function nacked_count(mode, retry_count, row)
  if retry_count ~= '' then return retry_count end
  local count = mode == 'FATAL' and COUNT_STORED_MAX or row and row[4] or 0
  count = math.min(count, COUNT_STORED_MAX)
  return string.format('%.0f', mode == 'SILENT' and math.max(count - 1, 0) or count)
end

-- Returns one entry to its group. `native`: by the engine's own XNACK.
local function nack_one(stream, state, group, id, row, nacking)
  if nacking.native then
    local words = {'XNACK', stream, group, nacking.mode, 'IDS', '1', id}
    for _, word in ipairs(nacking.options) do words[#words + 1] = word end
    redis.call(unpack(words))
  else
    local order = redis.call('HINCRBY', state, 'nacks', 1)
    local count = nacked_count(nacking.mode, nacking.retry_count, row)
    redis.call('XCLAIM', stream, group, NACKED, '0', id, 'TIME', order, 'RETRYCOUNT', count, 'FORCE', 'JUSTID')
  end
end

local function nack(keys, args)
  local stream, state, group = keys[1], keys[2], args[1]
  local nacking = {mode = args[2], retry_count = args[3], native = args[5] == '1', options = {}}
  local force = args[4] == '1'
  if nacking.retry_count ~= '' then nacking.options = {'RETRYCOUNT', nacking.retry_count} end
  if force then nacking.options[#nacking.options + 1] = 'FORCE' end
  require_group(stream, group)
  local letters = dead_letters.of(stream, keys[3], group)
  local reason = nacking.mode == 'FATAL' and nacking.retry_count == '' and 'fatal' or nil
  local done = 0
  for index = 6, #args do
    local id = args[index]
    local row = pending_row(stream, group, id)
    local found = redis.call('XRANGE', stream, id, id)[1]
    if row or (force and found) then done = done + 1 end
    local count = tonumber(nacked_count(nacking.mode, nacking.retry_count, row))
    if row and found and dead_letters.is_exhausted(letters, count, found[2])
      and dead_letters.move(letters, row, found[2], reason) then
      -- It is a dead letter now.
    elseif (row or force) and (found or (row and nacking.native)) then
      nack_one(stream, state, group, id, row, nacking)
    end
  end
  return {'ok', done}
end

-- The groups with the hidden consumer. Only a stream with emulated nacks has some, also after the engine is upgraded.
local function nacked_groups(keys)
  local found = {'ok'}
  if not redis.call('HGET', keys[2], 'nacks') or not exists(keys[1]) then return found end
  for _, group in ipairs(groups_of(keys[1])) do
    for _, flat in ipairs(redis.call('XINFO', 'CONSUMERS', keys[1], group.name)) do
      if to_map(flat).name == NACKED then found[#found + 1] = group.name end
    end
  end
  return found
end

-- Whether a claim may take the pending row: an entry without an owner is idle for any time.
local function is_claimable(row, min_idle)
  return row[2] == NACKED or row[3] < 0 or row[3] >= min_idle
end

-- Claims ids that are distinct, and adds what is claimed to `entries`.
local function claim_ids(stream, group, consumer, min_idle, ids, options, entries)
  in_chunks(ids, ARGUMENTS_MAX, function(chunk)
    local words = {'XCLAIM', stream, group, consumer, min_idle}
    for _, id in ipairs(chunk) do words[#words + 1] = id end
    for _, entry in ipairs(call_with(words, options)) do entries[#entries + 1] = entry end
  end)
end

-- Moves the entry of a claimable row whose new count exceeds the limit. Returns whether the claim must leave it alone.
local function is_withheld(letters, row, min_idle, retry_count)
  if not letters or not row or not is_claimable(row, min_idle) then return false end
  local count = retry_count and tonumber(retry_count) or row[4] + 1
  local found = redis.call('XRANGE', letters.stream, row[1], row[1])[1]
  if not found or not dead_letters.is_exhausted(letters, count - 1, found[2]) then return false end
  dead_letters.move(letters, row, found[2])
  return true
end

local function claim(keys, args)
  local stream, group, consumer, min_idle = keys[1], args[1], args[2], args[3]
  require_group(stream, group)
  local count = tonumber(args[4])
  local ids, options, seen, deleted, entries, retry_count = {}, {}, {}, {}, {}, nil
  for index = 5 + count, #args do
    if args[index - 1] == 'RETRYCOUNT' then retry_count = args[index] end
    options[#options + 1] = args[index]
  end
  -- A claim of ids alone is no delivery.
  local letters = options[#options] ~= 'JUSTID' and dead_letters.of(stream, keys[2], group) or nil
  redis.call('XGROUP', 'CREATECONSUMER', stream, group, consumer)
  for index = 5, 4 + count do
    local id = args[index]
    if letters and seen[id] then
      -- The second claim of an id sees the result of the first.
      claim_ids(stream, group, consumer, min_idle, ids, options, entries)
      ids, seen = {}, {}
    end
    local row = letters and pending_row(stream, group, id)
    if is_withheld(letters, row, tonumber(min_idle), retry_count) then
      -- An earlier claim of the id in this command counts no longer.
      for place = #entries, 1, -1 do
        if entries[place][1] == id then table.remove(entries, place) end
      end
    else
      ids[#ids + 1] = id
      if not seen[id] and not is_live(stream, id) and pending_row(stream, group, id) then deleted[#deleted + 1] = id end
    end
    seen[id] = true
  end
  claim_ids(stream, group, consumer, min_idle, ids, options, entries)
  return {'ok', entries, deleted}
end

-- XAUTOCLAIM of a group with dead letters. Arguments: group, consumer, idle time, first id, how many, JUSTID or ''.
local function auto_claim(keys, args)
  local stream, group, consumer, min_idle, from = keys[1], args[1], args[2], tonumber(args[3]), args[4]
  local budget, options = tonumber(args[5]), args[6] ~= '' and {args[6]} or {}
  require_group(stream, group)
  local letters = args[6] == '' and dead_letters.of(stream, keys[2], group) or nil
  redis.call('XGROUP', 'CREATECONSUMER', stream, group, consumer)
  local ids, deleted, entries, attempts = {}, {}, {}, math.min(budget * 10, EXAMINED_ROWS_MAX)
  local cursor
  while not cursor do
    local rows = redis.call('XPENDING', stream, group, from, '+', WINDOW)
    for _, row in ipairs(rows) do
      if budget == 0 or attempts == 0 then
        cursor = row[1]
        break
      end
      attempts = attempts - 1
      if not is_live(stream, row[1]) then
        redis.call('XACK', stream, group, row[1])
        deleted[#deleted + 1], budget = row[1], budget - 1
      elseif is_claimable(row, min_idle) then
        budget = budget - 1
        if not is_withheld(letters, row, min_idle) then ids[#ids + 1] = row[1] end
      end
    end
    if #rows < WINDOW then cursor = cursor or '0-0' else from = '(' .. rows[#rows][1] end
  end
  claim_ids(stream, group, consumer, '0', ids, options, entries)
  return {'ok', cursor, entries, deleted}
end

-- Begins the idle time of the consumer's own entries again; XCLAIM would drop those whose message was deleted.
local function extend(keys, args)
  local stream, group, consumer = keys[1], args[1], args[2]
  require_group(stream, group)
  local kept, lost, live, seen = {}, {}, {}, {}
  for index = 3, #args do
    local id = args[index]
    if not seen[id] then
      local is_own = #redis.call('XPENDING', stream, group, id, id, 1, consumer) == 1
      local into = is_own and kept or lost
      into[#into + 1] = id
      if is_own and is_live(stream, id) then live[#live + 1] = id end
      seen[id] = true
    end
  end
  in_chunks(live, ARGUMENTS_MAX, function(chunk)
    local words = {'XCLAIM', stream, group, consumer, '0'}
    for _, id in ipairs(chunk) do words[#words + 1] = id end
    words[#words + 1] = 'JUSTID'
    redis.call(unpack(words))
  end)
  return {'ok', kept, lost}
end

-- Answers the time of the oldest delivery, and the idle time from which on the group's own setting claims.
local function oldest(keys, args)
  local own = group_settings.of(keys[1], keys[2], args[1]).claim_min_idle_ms or ''
  local rows = redis.call('XPENDING', keys[1], args[1], '-', '+', WINDOW)
  table.sort(rows, function(a, b) return a[3] > b[3] end)
  for _, row in ipairs(rows) do
    if is_live(keys[1], row[1]) then return {'ok', string.format('%.0f', now_ms() - row[3]), own} end
  end
  return {'ok', '', own}
end
