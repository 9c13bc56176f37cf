-- XGROUP DELCONSUMER with the conditions that only Tailrace has.

-- How many pending entries the consumer has; nil: it does not exist.
local function pending_count(stream, group, consumer)
  for _, flat in ipairs(redis.call('XINFO', 'CONSUMERS', stream, group)) do
    local found = to_map(flat)
    if found.name == consumer then return found.pending end
  end
end

-- Calls `act` with the id and the idle time of each pending entry of the consumer.
local function each_pending(stream, group, consumer, act)
  local from = '-'
  while true do
    local rows = redis.call('XPENDING', stream, group, from, '+', WINDOW, consumer)
    for _, row in ipairs(rows) do act(row[1], row[3]) end
    if #rows < WINDOW or rows[#rows][1] == GREATEST_ID then return end
    from = '(' .. rows[#rows][1]
  end
end

-- Gives the pending entries of a consumer to its heir, with their times and counts. An engine drops those whose
-- message was deleted.
local function transfer(stream, group, consumer, heir)
  redis.call('XGROUP', 'CREATECONSUMER', stream, group, heir)
  each_pending(stream, group, consumer, function(id, idle)
    redis.call('XCLAIM', stream, group, heir, '0', id, 'IDLE', idle, 'JUSTID')
  end)
end

-- Arguments: group, consumer, heir or '', and 1 if no entry may be dropped. Answers how many entries were dropped, or,
-- if that is refused, how many would be; nothing without such a consumer.
local function delete_consumer(keys, args)
  local stream, group, consumer, heir = keys[1], args[1], args[2], args[3]
  -- Raises the error of the engine's own command if the stream or the group is missing.
  redis.call('XGROUP', 'DELCONSUMER', stream, group, RESERVED .. 'unknown')
  local dropped = pending_count(stream, group, consumer)
  if not dropped then return {'ok'} end
  local is_transfer = heir ~= '' and heir ~= consumer
  if is_transfer then
    dropped = 0
    each_pending(stream, group, consumer, function(id)
      if not is_live(stream, id) then dropped = dropped + 1 end
    end)
  end
  if dropped > 0 and args[4] == '1' then return {'ok', 'refused', dropped} end
  if is_transfer then transfer(stream, group, consumer, heir) end
  redis.call('XGROUP', 'DELCONSUMER', stream, group, consumer)
  return {'ok', 'deleted', dropped}
end
