-- XNACK for engines without it, XCLAIM that tells deleted entries, and the oldest delivery of a group.
--
-- A nacked entry belongs to a hidden consumer. Its delivery time is the number of its nack, so that later nacks are
-- later, and all of them are before any time of a clock.

local function nacked_count(mode, retry_count, row)
  if retry_count ~= '' then return retry_count end
  if mode == 'FATAL' then return COUNT_MAX end
  local count = row and row[4] or 0
  if mode ~= 'SILENT' then return count_text(count) end
  if count >= 9.2e18 then return '9223372036854775806' end
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

-- Whether one more delivery would exceed the greatest count, which older engines do not check.
local function is_saturated(rows, id)
  return rows[id] ~= nil and rows[id][4] >= 9.2e18
end

-- XCLAIM of ids that are all saturated, or none of them.
local function claim_some(stream, args, ids, options, saturated)
  local words = {'XCLAIM', stream, args[1], args[2], args[3]}
  for _, id in ipairs(ids) do words[#words + 1] = id end
  for _, word in ipairs(options) do words[#words + 1] = word end
  if saturated then
    words[#words + 1] = 'RETRYCOUNT'
    words[#words + 1] = COUNT_MAX
  end
  return redis.call(unpack(words))
end

local function claim(keys, args)
  local stream, group, consumer, just_id = keys[1], args[1], args[2], args[4] == '1'
  require_group(stream, group)
  local count = tonumber(args[5])
  local ids, options, rows, deleted = {}, {}, {}, {}
  local sets_count = just_id
  for index = 6 + count, #args do
    options[#options + 1] = args[index]
    if args[index] == 'RETRYCOUNT' then sets_count = true end
  end
  for index = 6, 5 + count do
    local id = args[index]
    ids[#ids + 1] = id
    local row = rows[id] == nil and pending_row(stream, group, id)
    if row then
      rows[id] = row
      if not is_live(stream, id) then deleted[#deleted + 1] = id end
    end
  end
  redis.call('XGROUP', 'CREATECONSUMER', stream, group, consumer)
  local entries, start = {}, 1
  while start <= #ids do
    local saturated = not sets_count and is_saturated(rows, ids[start])
    local some = {}
    while ids[start] and #some < ARGUMENTS_MAX and (not sets_count and is_saturated(rows, ids[start])) == saturated do
      some[#some + 1] = ids[start]
      start = start + 1
    end
    for _, entry in ipairs(claim_some(stream, args, some, options, saturated)) do entries[#entries + 1] = entry end
  end
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
