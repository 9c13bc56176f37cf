-- Dead letters: entries that a group has delivered as often as it may, moved to another stream of the same slot.
--
-- The move appends the entry there with six more fields, and acknowledges it in the group. `letters` are the moves of
-- one command; nil without the setting, or if nothing can be appended to the other stream.

local dead_letters = {
  entries_max = 1000,
  bytes_max = 8 * 1024 * 1024,
  look_ahead = 100,
  names = {'_source_stream', '_source_id', '_group', '_deliveries', '_last_consumer', '_reason'},
}

-- Whether the other stream, which may be missing, has ids left for all moves of a command.
function dead_letters.has_ids(stream)
  local kind = redis.call('TYPE', stream).ok
  if kind ~= 'stream' then return kind == 'none' end
  local ms, seq = split_id(info(stream)['last-generated-id'])
  return ms ~= MAX or #seq < #MAX
end

function dead_letters.of(stream, settings, group)
  local named = group_settings.of(stream, settings, group)
  local into = named.dead_letter_stream
  if not into or into == stream or not dead_letters.has_ids(into) then return nil end
  return {
    stream = stream, settings = settings, group = group, into = into, most = tonumber(named.max_deliveries),
    left = dead_letters.entries_max, bytes = dead_letters.bytes_max,
  }
end

-- Whether a live entry with this delivery count may not be delivered again. Lua cannot append one with more fields.
function dead_letters.is_exhausted(letters, count, fields)
  if not letters or tonumber(count_text(count)) < letters.most then return false end
  return #fields + 2 * #dead_letters.names <= ARGUMENTS_MAX
end

-- Moves the entry of the pending row {id, consumer, idle, count}. False if the command may move no more.
function dead_letters.move(letters, row, fields, reason)
  if letters.left <= 0 or letters.bytes <= 0 then return false end
  local owner = row[2] == NACKED and '' or row[2]
  local values = {letters.stream, row[1], letters.group, count_text(row[4]), owner, reason or 'max_deliveries'}
  local words = {'XADD', letters.into, '*'}
  for _, word in ipairs(fields) do
    words[#words + 1] = word
    letters.bytes = letters.bytes - #word
  end
  for index, name in ipairs(dead_letters.names) do
    words[#words + 1] = name
    words[#words + 1] = values[index]
  end
  redis.call(unpack(words))
  redis.call('XACK', letters.stream, letters.group, row[1])
  redis.call('HINCRBY', letters.settings, 'dead_letters:' .. letters.group, 1)
  letters.left = letters.left - 1
  return true
end

-- Moves entries of the consumer after an id, until `wanted` that may be delivered come first. Returns the id before
-- which all can be shown, nil if there is no such bound.
function dead_letters.clear_history(letters, consumer, after, wanted)
  local from = '(' .. after
  while wanted > 0 do
    local rows = redis.call('XPENDING', letters.stream, letters.group, from, '+', dead_letters.look_ahead, consumer)
    for _, row in ipairs(rows) do
      if wanted == 0 then return nil end
      local found = redis.call('XRANGE', letters.stream, row[1], row[1])[1]
      if not found or not dead_letters.is_exhausted(letters, row[4], found[2]) then
        wanted = wanted - 1
      elseif not dead_letters.move(letters, row, found[2]) then
        return row[1]
      end
    end
    if #rows < dead_letters.look_ahead then return nil end
    from = '(' .. rows[#rows][1]
  end
end

-- The fields of the entry that became this dead letter of the stream and group, nil if it is none.
function dead_letters.own_fields(fields, stream, group)
  local first = #fields - 2 * #dead_letters.names
  if first <= 0 then return nil end
  for index, name in ipairs(dead_letters.names) do
    if fields[first + 2 * index - 1] ~= name then return nil end
  end
  if fields[first + 2] ~= stream or fields[first + 6] ~= group then return nil end
  return {unpack(fields, 1, first)}
end

-- The dead letters to examine as {id, fields or false}, and the id at which the next call begins.
function dead_letters.examined(into, limit, start, ids)
  local found, bytes = {}, 0
  if #ids == 0 then
    found = redis.call('XRANGE', into, start, '+', 'COUNT', limit + 1)
  else
    for index = 1, math.min(#ids, limit + 1) do
      local entry = redis.call('XRANGE', into, ids[index], ids[index])[1]
      found[index] = {ids[index], entry and entry[2] or false}
    end
  end
  local examined = {}
  for _, row in ipairs(found) do
    if #examined == limit or bytes >= dead_letters.bytes_max then return examined, row[1] end
    for _, word in ipairs(row[2] or {}) do bytes = bytes + #word end
    examined[#examined + 1] = row
  end
  return examined, nil
end

-- Appends dead letters to the stream again, and deletes them. Arguments: the group, the limit, the first id, the
-- dead-letter stream that the group must have ('': any), then rising ids instead of the first id.
function dead_letters.redrive(keys, args)
  local stream, group = keys[1], args[1]
  group_settings.require(stream, group)
  local into = group_settings.of(stream, keys[2], group).dead_letter_stream
  if args[4] ~= '' and args[4] ~= into then refuse('OTHER_DEAD_LETTERS') end
  if not into then refuse('NO_DEAD_LETTERS', group) end
  if into == stream then refuse('REDRIVE_OWN_STREAM') end
  local ids = {unpack(args, 5)}
  if not exists(into) then return {'ok', {}, {}, #ids, ''} end
  local examined, following = dead_letters.examined(into, tonumber(args[2]), args[3], ids)
  if not dead_letters.has_ids(stream) then refuse('EXHAUSTED', info(stream)['last-generated-id']) end
  local old, new = {}, {}
  for _, row in ipairs(examined) do
    local fields = row[2] and dead_letters.own_fields(row[2], stream, group)
    if fields then
      new[#new + 1] = redis.call('XADD', stream, '*', unpack(fields))
      old[#old + 1] = row[1]
      redis.call('XDEL', into, row[1])
    end
  end
  return {'ok', old, new, #examined - #old, following or ''}
end
