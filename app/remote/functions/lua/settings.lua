-- Settings of the groups of a stream: a hash of their own, which appends with idempotency keys leave alone.
--
--   incarnation                 which stream the settings belong to
--   <setting>:<group>           a setting of a group as text; absent: not set
--   dead_letters:<group>        how many entries of the group became dead letters
--
-- The gateways know which streams may have such a hash, and pass its key only for those.

local group_settings = {
  names = {'max_deliveries', 'dead_letter_stream', 'claim_min_idle_ms'},
  least_is_one = {'max_deliveries', 'claim_min_idle_ms'},
}

function group_settings.fields(group)
  local fields = {'dead_letters:' .. group}
  for index, name in ipairs(group_settings.names) do fields[index + 1] = name .. ':' .. group end
  return fields
end

-- The settings of a group as a map of texts, with the count of dead letters. Empty without a hash, or if the hash
-- belongs to an earlier stream.
function group_settings.of(stream, settings, group)
  if not settings then return {} end
  local found = redis.call('HMGET', settings, 'incarnation', unpack(group_settings.fields(group)))
  if not found[1] or not marked_as(stream, found[1]) then return {} end
  local named = {dead_letters = found[2] or nil}
  for index, name in ipairs(group_settings.names) do named[name] = found[index + 2] or nil end
  return named
end

-- Raises the engine's error of XGROUP for a missing stream or group.
function group_settings.require(stream, group)
  redis.call('XGROUP', 'DELCONSUMER', stream, group, RESERVED .. 'unknown')
end

function group_settings.check(stream, named)
  for _, name in ipairs(group_settings.least_is_one) do
    if named[name] and tonumber(named[name]) < 1 then refuse('TOO_SMALL', name, named[name], '1') end
  end
  if named.max_deliveries and not named.dead_letter_stream then
    refuse('HALF_SET', 'max_deliveries', 'dead_letter_stream')
  elseif named.dead_letter_stream and not named.max_deliveries then
    refuse('HALF_SET', 'dead_letter_stream', 'max_deliveries')
  end
  if named.dead_letter_stream == stream then refuse('OWN_STREAM', stream) end
end

-- A setting as an answer: a mark before it, because a stream may have an empty name; '' if it is not set.
function group_settings.shown(value)
  return value and '=' .. value or ''
end

-- Arguments: a new incarnation, the group, then names of settings with their values in that form; '' removes one.
function group_settings.configure(keys, args)
  local stream, settings, group = keys[1], keys[2], args[2]
  group_settings.require(stream, group)
  local named = group_settings.of(stream, settings, group)
  for index = 3, #args, 2 do named[args[index]] = args[index + 1] ~= '' and string.sub(args[index + 1], 2) or nil end
  group_settings.check(stream, named)
  if not next(named) and not exists(settings) then return {'ok'} end
  mark(stream, settings, args[1])
  for _, name in ipairs(group_settings.names) do
    local field = name .. ':' .. group
    if named[name] then redis.call('HSET', settings, field, named[name]) else redis.call('HDEL', settings, field) end
  end
  return {'ok'}
end

-- Answers, for each group with settings: its name, the count of its dead letters, and its settings.
function group_settings.list(keys)
  local stream, settings = keys[1], keys[2]
  local answer = {'ok'}
  for _, group in ipairs(exists(stream) and groups_of(stream) or {}) do
    local named = group_settings.of(stream, settings, group.name)
    local row = {group.name, named.dead_letters or '0'}
    for index, name in ipairs(group_settings.names) do row[index + 2] = group_settings.shown(named[name]) end
    if next(named) then answer[#answer + 1] = row end
  end
  return answer
end

-- Forgets a field of the registry, unless somebody has announced the stream again. Arguments: the field, its stamp, and
-- the new version. Answers 1 if it was forgotten.
function group_settings.forget_announced(keys, args)
  if redis.call('HGET', keys[1], args[1]) ~= args[2] then return {'ok', 0} end
  redis.call('HDEL', keys[1], args[1])
  redis.call('HSET', keys[1], 'version', args[3])
  return {'ok', 1}
end

-- Runs the command that creates or destroys a group, and forgets the settings of an earlier group of the name.
function group_settings.renew(keys, args)
  local words = {}
  for index = 2, #args do words[index - 1] = args[index] end
  local answer = redis.call(unpack(words))
  redis.call('HDEL', keys[2], unpack(group_settings.fields(args[1])))
  return {'ok', type(answer) == 'number' and answer or 1}
end
