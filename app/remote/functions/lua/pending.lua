-- XNACK for engines without it, XCLAIM that tells deleted entries, and the oldest delivery of a group.
--
-- A nacked entry belongs to a hidden consumer. Its delivery time is the number of its nack, so that later nacks are
-- later, and all of them are before any time of a clock.

local function nacked_count(mode, retry_count, row)
  if retry_count ~= '' then return stored_count(retry_count) end
  if mode == 'FATAL' then return COUNT_STORED_MAX end
  local count = row and row[4] or 0
  if count >= COUNT_SHOWN_AS_MAX then return COUNT_STORED_MAX end
  if mode ~= 'SILENT' then return count_text(count) end
  return string.format('%.0f', math.max(count - 1, 0))
end

local function nack(keys, args)
  local stream, state = keys[1], keys[2]
  local group, mode, retry_count, force = args[1], args[2], args[3], args[4] == '1'
  require_group(stream, group)
  local done = 0
  for index = 5, #args do
    local id = args[index]
    local row = pending_row(stream, group, id)
    local live = is_live(stream, id)
    if row or (force and live) then done = done + 1 end
    if live and (row or force) then
      local order = redis.call('HINCRBY', state, 'nacks', 1)
      local count = nacked_count(mode, retry_count, row)
      redis.call('XCLAIM', stream, group, NACKED, '0', id, 'TIME', order, 'RETRYCOUNT', count, 'FORCE', 'JUSTID')
    end
  end
  return {'ok', done}
end

local function claim(keys, args)
  local stream, group, consumer = keys[1], args[1], args[2]
  require_group(stream, group)
  local count = tonumber(args[4])
  local ids, options, seen, deleted = {}, {}, {}, {}
  for index = 5 + count, #args do
    options[#options + 1] = args[index - 1] == 'RETRYCOUNT' and stored_count(args[index]) or args[index]
  end
  for index = 5, 4 + count do
    local id = args[index]
    ids[#ids + 1] = id
    if not seen[id] and not is_live(stream, id) and pending_row(stream, group, id) then deleted[#deleted + 1] = id end
    seen[id] = true
  end
  redis.call('XGROUP', 'CREATECONSUMER', stream, group, consumer)
  local entries = {}
  in_chunks(ids, ARGUMENTS_MAX, function(chunk)
    local words = {'XCLAIM', stream, group, consumer, args[3]}
    for _, id in ipairs(chunk) do words[#words + 1] = id end
    for _, entry in ipairs(call_with(words, options)) do entries[#entries + 1] = entry end
  end)
  return {'ok', entries, deleted}
end

local function oldest(keys, args)
  local rows = redis.call('XPENDING', keys[1], args[1], '-', '+', WINDOW)
  table.sort(rows, function(a, b) return a[3] > b[3] end)
  for _, row in ipairs(rows) do
    if is_live(keys[1], row[1]) then return {'ok', string.format('%.0f', now_ms() - row[3])} end
  end
  return {'ok'}
end
