-- Appends of one or more entries, all or none: every id is chosen and checked before the first XADD.

local function read_request(args, at)
  local request = {
    kind = args[at], producer = args[at + 1], key = args[at + 2], fingerprint = args[at + 3],
    epoch = args[at + 4], layout = args[at + 5], duration = args[at + 6], maxsize = args[at + 7],
  }
  return request, at + 8
end

local function setting(state, name, default)
  return tonumber(redis.call('HGET', state, name) or default)
end

local function find_append(state, request)
  local found
  if request.kind == 't' then
    found = find_timed(state, request.producer, request.key)
  else
    found = find_in_epoch(state, request)
  end
  if found then check_body(found, request) end
  return found
end

local function note_duplicate(state, producer)
  add(state, 'duplicates', 1)
  touch_timed(state, producer)
  touch_epochs(state, producer)
end

-- The answer of an append; many ids would be too many results for `unpack`.
local function appended(replayed, count, ids)
  local answer = {'ok', replayed, count}
  for index = 1, #ids do answer[index + 3] = ids[index] end
  return answer
end

-- The next id of the stream for one requested id; refuses what XADD would refuse.
local function choose_id(request, last, now)
  local last_ms, last_seq = split_id(last)
  if request == '*' then
    if is_less(last_ms, now) then return now .. '-0' end
    return next_id(last) or refuse('EXHAUSTED', last)
  end
  local ms = string.match(request, '^(%d+)%-%*$')
  if not ms then
    if not is_id_less(last, request) then refuse('NOT_GREATER', last, request) end
    return request
  end
  if is_less(last_ms, ms) then
    return ms .. '-0'
  elseif ms == last_ms and last_seq ~= MAX then
    return ms .. '-' .. plus_one(last_seq)
  end
  return refuse('NOT_GREATER', last, request)
end

local function are_automatic(args, at, count)
  for _ = 1, count do
    if args[at] ~= '*' then return false end
    at = at + 2 + tonumber(args[at + 1])
  end
  return true
end

-- The ids from `first` on, nil if their numbers are beyond Lua's.
local function consecutive_ids(first, count)
  local ms, seq = split_id(first)
  if #seq >= 15 then return nil end
  local ids, low = {first}, tonumber(seq)
  for index = 2, count do ids[index] = string.format('%s-%.0f', ms, low + index - 1) end
  return ids
end

-- Chooses the ids of all entries. Returns them, and whether they are consecutive.
local function choose_ids(args, at, count, last)
  if last == GREATEST_ID then refuse('EXHAUSTED', last) end
  -- One instant for all entries, as for the entries of one transaction.
  local now = string.format('%.0f', now_ms())
  if are_automatic(args, at, count) then
    local ids = consecutive_ids(choose_id('*', last, now), count)
    if ids then return ids, true end
  end
  local ids, is_run = {}, true
  for index = 1, count do
    local id = choose_id(args[at], last, now)
    if index > 1 and id ~= next_id(last) then is_run = false end
    ids[index], last = id, id
    at = at + 2 + tonumber(args[at + 1])
  end
  return ids, is_run
end

local function add_entries(stream, args, at, ids)
  for index = 1, #ids do
    local words = tonumber(args[at + 1])
    redis.call('XADD', stream, ids[index], unpack(args, at + 2, at + 1 + words))
    at = at + 2 + words
  end
end

local function remember(stream, state, fresh, request, value)
  if fresh then mark(stream, state, fresh) end
  add(state, 'added', 1)
  if request.kind == 't' then
    remember_timed(state, request.producer, request.key, value, setting(state, 'maxsize', request.maxsize))
  else
    remember_in_epoch(state, request, value)
  end
end

-- Gives an engine that has IDMP the settings that were stored while it lacked IDMP. The state is that of the stream.
local function carry_settings(stream, state)
  local duration, maxsize, carried = unpack(redis.call('HMGET', state, 'duration', 'maxsize', 'carried'))
  if not duration or carried then return end
  redis.call('XCFGSET', stream, 'IDMP-DURATION', duration, 'IDMP-MAXSIZE', maxsize)
  redis.call('HSET', state, 'carried', 1)
end

-- Appends one entry by the engine's own IDMP. Returns its id, and whether the engine did not know the key.
local function append_by_engine(stream, is_there, request, fields)
  local last = is_there and info(stream)['last-generated-id'] or '0-0'
  local added = call_with({'XADD', stream, 'IDMP', request.producer, request.key, '*'}, fields)
  return added, is_id_less(last, added)
end

local function append(keys, args)
  local stream, state = keys[1], keys[2]
  local create, if_last_id, fresh = args[1] == '1', args[2], args[3]
  local request, at = read_request(args, 4)
  local trim = {unpack(args, at, at + 4)}
  local count = tonumber(args[at + 5])
  at = at + 6
  -- A key of Redis's own command, which other clients of the engine may use, too.
  local is_idmp = request.kind == 't' and request.fingerprint == '' and if_last_id == ''
    and count == 1 and args[at] == '*' and has_idmp()
  local is_there = exists(stream)
  if not is_there and not create then return {'ok'} end
  if request.kind ~= '' and is_there and has_state(stream, state) then
    -- The mark is there: see `remember`.
    fresh = nil
    if request.kind == 't' then
      sweep_timed(state, request.producer, now_ms(), setting(state, 'duration', request.duration))
    end
    local found = find_append(state, request)
    if found then
      note_duplicate(state, request.producer)
      return appended(1, found.count, found.ids)
    end
    if is_idmp then carry_settings(stream, state) end
  end
  if trim[2] ~= '' then check_trim(stream, trim, count) end
  if is_idmp then
    local fields = {unpack(args, at + 2, at + 1 + tonumber(args[at + 1]))}
    local id, is_new = append_by_engine(stream, is_there, request, fields)
    if is_new and trim[2] ~= '' then trim_stream(stream, trim) end
    return appended(is_new and 0 or 1, 1, {id})
  end
  local told
  if count == 1 and args[at] == '*' and if_last_id == '' then
    -- The common case: the engine chooses the id, and refuses before it changes anything.
    told = {redis.call('XADD', stream, '*', unpack(args, at + 2, at + 1 + tonumber(args[at + 1])))}
  else
    local last = is_there and info(stream)['last-generated-id'] or '0-0'
    if if_last_id ~= '' and if_last_id ~= last then refuse('LAST_ID', last, if_last_id) end
    local ids, is_run = choose_ids(args, at, count, last)
    add_entries(stream, args, at, ids)
    told = is_run and {ids[1]} or ids
  end
  if request.kind ~= '' then remember(stream, state, fresh, request, remembered(told, count, request.fingerprint)) end
  if trim[2] ~= '' then trim_stream(stream, trim) end
  return appended(0, count, told)
end

local function find(keys, args)
  local stream, state = keys[1], keys[2]
  local request = read_request(args, 1)
  if not exists(stream) or not has_state(stream, state) then return {'ok'} end
  local found = find_append(state, request)
  if not found then return {'ok'} end
  return appended(1, found.count, found.ids)
end

local function producer_epochs(keys, args)
  if not exists(keys[1]) then refuse('NO_SUCH_KEY') end
  if not has_state(keys[1], keys[2]) then return {'ok'} end
  return {'ok', unpack(list_epochs(keys[2], args[1]))}
end

local function take_over(keys, args)
  if not exists(keys[1]) then refuse('NO_SUCH_KEY') end
  local keys_wanted = tonumber(args[5])
  if not has_state(keys[1], keys[2]) then refuse('OTHER_KEYS', args[2], '0', args[5], '') end
  take_over_epoch(keys[2], args[1], args[2], args[3], args[4], keys_wanted)
  return {'ok'}
end
