-- Streams as a whole, each with its state: marks, settings of idempotency keys, rename, copy, delete.

local function mark_stream(keys, args)
  if not exists(keys[1]) then return {'ok'} end
  return {'ok', mark(keys[1], keys[2], args[1])}
end

local function counter(state, name)
  return tonumber(redis.call('HGET', state, name) or 0)
end

local function state_of(keys, args)
  local stream, state = keys[1], keys[2]
  if not exists(stream) then return {'ok'} end
  local incarnation = find_incarnation(stream, redis.call('HGET', state, 'incarnation'))
  if not has_state(stream, state) then
    return {'ok', incarnation or '', args[1], args[2], 0, 0, 0, 0}
  end
  return {
    'ok', incarnation, setting(state, 'duration', args[1]), setting(state, 'maxsize', args[2]),
    counter(state, 'timed_producers') + counter(state, 'epoch_producers'),
    counter(state, 'timed_keys') + counter(state, 'epoch_keys'),
    counter(state, 'added'), counter(state, 'duplicates'),
  }
end

local function configure(keys, args)
  local stream, state, fresh = keys[1], keys[2], args[1]
  if not exists(stream) then refuse('NO_SUCH_KEY') end
  local known = has_state(stream, state)
  local by_engine = has_idmp()
  if by_engine then
    if known then carry_settings(stream, state) end
    local words = {'XCFGSET', stream}
    if args[2] ~= '' then words[#words + 1], words[#words + 2] = 'IDMP-DURATION', args[2] end
    if args[3] ~= '' then words[#words + 1], words[#words + 2] = 'IDMP-MAXSIZE', args[3] end
    if #words > 2 then redis.call(unpack(words)) end
  end
  local duration = known and setting(state, 'duration', args[4]) or tonumber(args[4])
  local maxsize = known and setting(state, 'maxsize', args[5]) or tonumber(args[5])
  local new_duration = args[2] ~= '' and tonumber(args[2]) or duration
  local new_maxsize = args[3] ~= '' and tonumber(args[3]) or maxsize
  if new_duration == duration and new_maxsize == maxsize then return {'ok'} end
  if known then clear_timed(state) end
  mark(stream, state, fresh)
  redis.call('HSET', state, 'duration', new_duration, 'maxsize', new_maxsize)
  if by_engine then redis.call('HSET', state, 'carried', 1) end
  return {'ok'}
end

local function record(keys, args)
  local stream, state = keys[1], keys[2]
  local request = {kind = 't', producer = args[2], key = args[3], fingerprint = '', maxsize = args[6]}
  if not exists(stream) then refuse('NO_SUCH_KEY') end
  if not is_live(stream, args[4]) then refuse('NO_SUCH_MESSAGE') end
  local is_ours = has_state(stream, state)
  local known = is_ours and find_timed(state, request.producer, request.key)
  if known and known.ids[1] ~= args[4] then refuse('IID_OF_ANOTHER') end
  if known then return {'ok'} end
  if has_idmp() then
    if is_ours then carry_settings(stream, state) end
    redis.call('XIDMPRECORD', stream, request.producer, request.key, args[4])
  else
    remember(stream, state, args[1], request, remembered({args[4]}, 1, ''))
  end
  return {'ok'}
end

-- Moves the hash of a stream to its new name, or forgets the one that is there.
local function rename_hash(hash, new_hash)
  if exists(hash) then redis.call('RENAME', hash, new_hash) else redis.call('UNLINK', new_hash) end
end

local function rename(keys)
  redis.call('RENAME', keys[1], keys[4])
  if keys[1] == keys[4] then return {'ok'} end
  rename_hash(keys[2], keys[5])
  rename_hash(keys[3], keys[6])
  return {'ok'}
end

local function copy(keys, args)
  local stream, new_stream = keys[1], keys[4]
  local words = {'COPY', stream, new_stream}
  if args[2] == '1' then words[4] = 'REPLACE' end
  if redis.call(unpack(words)) == 0 then return {'ok', 0} end
  redis.call('UNLINK', keys[5], keys[6])
  local incarnation = find_incarnation(new_stream)
  if incarnation then redis.call('XGROUP', 'DESTROY', new_stream, RESERVED .. incarnation) end
  local is_marked = false
  for index = 2, 3 do
    if has_state(stream, keys[index]) then
      redis.call('COPY', keys[index], keys[3 + index])
      redis.call('HSET', keys[3 + index], 'incarnation', args[1])
      is_marked = true
    end
  end
  if is_marked then redis.call('XGROUP', 'CREATE', new_stream, RESERVED .. args[1], GREATEST_ID) end
  return {'ok', 1}
end

local function drop(keys)
  local found = redis.call('UNLINK', keys[1])
  redis.call('UNLINK', keys[2], keys[3])
  return {'ok', found}
end

-- Frees the hash of a stream that another client, or the engine, has removed. Answers 1 if something was freed.
local function sweep(keys)
  local stream, hash = keys[1], keys[2]
  if redis.call('TYPE', stream).ok ~= 'stream' then return {'ok', redis.call('UNLINK', hash)} end
  if not redis.call('HGET', hash, 'incarnation') or has_state(stream, hash) then return {'ok', 0} end
  forget_state(hash)
  return {'ok', 1}
end
