-- Keys of producers that replay whole batches: kept for the current and the last epoch, whatever the time.
--
--   epochs:<producer>         {place, {epoch, ...}}, at most two epochs, the current one last
--   batch:<serial>:<key>      the value of a key; an epoch is {number, layout, keys, serial}
--   batches:<serial>:<n>      the n-th key of an epoch, to forget them by
--   garbage                   {{serial, next n, last n}, ...}: forgotten epochs whose fields are still there

local EPOCH_KEYS = 100000
local EPOCH_PRODUCERS = 10000
local REMOVED_AT_ONCE = 64

local function epoch_record(state, producer)
  return get(state, 'epochs:' .. producer)
end

-- The remembered epoch of that number; nil if it is newer than all. Refuses an older one.
local function known_epoch(record, number)
  if not record then return nil end
  local epochs = record[2]
  for _, epoch in ipairs(epochs) do
    if epoch[1] == number then return epoch end
  end
  local current = epochs[#epochs][1]
  if is_less(number, current) then refuse('STALE_EPOCH', number, current) end
end

local function check_layout(epoch, layout)
  if layout ~= '' and epoch[2] ~= '' and layout ~= epoch[2] then
    refuse('LAYOUT_CHANGED', epoch[1], string.sub(epoch[2], 2))
  end
end

local function batch_field(epoch, key)
  return 'batch:' .. epoch[4] .. ':' .. key
end

-- The value under the request's key, nil if the key is new. Refuses what may not be appended.
local function find_in_epoch(state, request)
  local epoch = known_epoch(epoch_record(state, request.producer), request.epoch)
  if not epoch then return nil end
  check_layout(epoch, request.layout)
  local found = get(state, batch_field(epoch, request.key))
  if not found and epoch[3] >= EPOCH_KEYS then refuse('EPOCH_FULL', request.epoch) end
  return found
end

local function discard_epoch(state, epoch)
  add(state, 'epoch_keys', -epoch[3])
  if epoch[3] == 0 then return end
  local garbage = get(state, 'garbage') or {}
  garbage[#garbage + 1] = {epoch[4], 1, epoch[3]}
  put(state, 'garbage', garbage)
end

-- Frees some fields of forgotten epochs: more than one append adds, so garbage cannot grow.
local function collect_garbage(state)
  local garbage = get(state, 'garbage')
  if not garbage then return end
  local first = garbage[#garbage]
  local last = math.min(first[2] + REMOVED_AT_ONCE - 1, first[3])
  for n = first[2], last do
    local place = 'batches:' .. first[1] .. ':' .. n
    local key = redis.call('HGET', state, place)
    redis.call('HDEL', state, place, 'batch:' .. first[1] .. ':' .. key)
  end
  first[2] = last + 1
  if first[2] > first[3] then table.remove(garbage) end
  if #garbage == 0 then redis.call('HDEL', state, 'garbage') else put(state, 'garbage', garbage) end
end

local function forget_epoch_producer(state, producer)
  local record = epoch_record(state, producer)
  for _, epoch in ipairs(record[2]) do discard_epoch(state, epoch) end
  remove_from_ring(state, 'epochs', record[1])
  redis.call('HDEL', state, 'epochs:' .. producer)
  add(state, 'epoch_producers', -1)
end

local function begin_epoch(state, record, number)
  local serial = redis.call('HINCRBY', state, 'serial', 1)
  local epochs = record[2]
  if #epochs == 2 then discard_epoch(state, table.remove(epochs, 1)) end
  epochs[#epochs + 1] = {number, '', 0, serial}
  return epochs[#epochs]
end

local function forget_above_bounds(state, producer)
  local producers = tonumber(redis.call('HGET', state, 'epoch_producers') or 0)
  local keys = tonumber(redis.call('HGET', state, 'epoch_keys') or 0)
  if producers <= EPOCH_PRODUCERS and keys <= KEYS_MAX then return end
  local oldest = oldest_in_ring(state, 'epochs')
  if oldest and oldest ~= producer then forget_epoch_producer(state, oldest) end
end

local function remember_in_epoch(state, request, value)
  local record = epoch_record(state, request.producer)
  if not record then
    record = {false, {}}
    add(state, 'epoch_producers', 1)
  end
  local epoch = known_epoch(record[2][1] and record, request.epoch) or begin_epoch(state, record, request.epoch)
  if epoch[2] == '' then epoch[2] = request.layout end
  epoch[3] = epoch[3] + 1
  record[1] = touch_ring(state, 'epochs', request.producer, record[1])
  redis.call(
    'HSET', state, batch_field(epoch, request.key), cmsgpack.pack(value),
    'batches:' .. epoch[4] .. ':' .. epoch[3], request.key, 'epochs:' .. request.producer, cmsgpack.pack(record)
  )
  add(state, 'epoch_keys', 1)
  if epoch[3] % SWEPT_ONE_IN == 1 then forget_above_bounds(state, request.producer) end
  collect_garbage(state)
end

local function touch_epochs(state, producer)
  local record = epoch_record(state, producer)
  if not record then return end
  record[1] = touch_ring(state, 'epochs', producer, record[1])
  put(state, 'epochs:' .. producer, record)
end

local function list_epochs(state, producer)
  local rows = {}
  local record = epoch_record(state, producer)
  for _, epoch in ipairs(record and record[2] or {}) do
    rows[#rows + 1] = {epoch[1], epoch[2], epoch[3]}
  end
  return rows
end

-- Gives an epoch another layout; a repetition changes nothing.
local function take_over_epoch(state, producer, number, replaces, layout, keys)
  local record = epoch_record(state, producer)
  local epoch = known_epoch(record, number)
  if epoch and epoch[2] == layout then return end
  if not epoch or epoch[3] ~= keys then
    refuse('OTHER_KEYS', number, tostring(epoch and epoch[3] or 0), tostring(keys), epoch and string.sub(epoch[2], 2) or '')
  end
  check_layout(epoch, replaces)
  epoch[2] = layout
  record[1] = touch_ring(state, 'epochs', producer, record[1])
  put(state, 'epochs:' .. producer, record)
end
