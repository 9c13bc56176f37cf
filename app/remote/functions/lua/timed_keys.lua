-- Keys without an epoch, forgotten by time and by count, oldest first.
--
--   timed:<producer>          {place, head, tail, ms}: its place in the ring, its queue of keys, and the time part
--                             of the oldest key's first id, as text
--   order:<producer><n>       the key at that place of the queue
--   key:<producer><key>       {n, value}

local KEYS_MAX = 1000000
local FORGOTTEN_AT_ONCE = 100
-- The oldest producer is looked at in one millisecond of so many, and after so many keys of a producer.
local SWEPT_ONE_IN = 8

local function timed_producer(state, producer)
  return get(state, 'timed:' .. producer)
end

local function timed_field(producer, key)
  return 'key:' .. with_length(producer) .. key
end

local function order_field(producer, n)
  return 'order:' .. with_length(producer) .. n
end

local function find_timed(state, producer, key)
  local found = get(state, timed_field(producer, key))
  return found and found[2]
end

-- Saves a producer, or forgets it if it has no keys.
local function save_timed(state, producer, record)
  if record[2] > record[3] then
    remove_from_ring(state, 'timed', record[1])
    redis.call('HDEL', state, 'timed:' .. producer)
    add(state, 'timed_producers', -1)
  else
    put(state, 'timed:' .. producer, record)
  end
end

local function forget_oldest(state, producer, record)
  local key = redis.call('HGET', state, order_field(producer, record[2]))
  redis.call('HDEL', state, order_field(producer, record[2]), timed_field(producer, key))
  record[2] = record[2] + 1
  add(state, 'timed_keys', -1)
  if record[2] <= record[3] then
    local oldest = redis.call('HGET', state, order_field(producer, record[2]))
    record[4] = (split_id(find_timed(state, producer, oldest).ids[1]))
  end
end

-- Forgets the producer's keys whose first id has a time at or before `before`. Bounded.
local function expire_timed(state, producer, before)
  local record = timed_producer(state, producer)
  if not record then return end
  local budget = FORGOTTEN_AT_ONCE
  while budget > 0 and record[2] <= record[3] and tonumber(record[4]) <= before do
    forget_oldest(state, producer, record)
    budget = budget - 1
  end
  if budget < FORGOTTEN_AT_ONCE then save_timed(state, producer, record) end
end

local function forget_timed_producer(state, producer, most)
  local record = timed_producer(state, producer)
  while most > 0 and record[2] <= record[3] do
    forget_oldest(state, producer, record)
    most = most - 1
  end
  save_timed(state, producer, record)
end

-- What appends with a key do for the others: forget what has expired, of this producer and, at times, the oldest.
local function sweep_timed(state, producer, now, duration)
  local before = now - duration * 1000
  expire_timed(state, producer, before)
  if now % SWEPT_ONE_IN ~= 0 then return end
  local oldest = oldest_in_ring(state, 'timed')
  if oldest and oldest ~= producer then expire_timed(state, oldest, before) end
end

local function remember_timed(state, producer, key, value, maxsize)
  local record = timed_producer(state, producer)
  if not record then
    record = {false, 1, 0, '0'}
    add(state, 'timed_producers', 1)
  end
  record[1] = touch_ring(state, 'timed', producer, record[1])
  record[3] = record[3] + 1
  if record[2] == record[3] then record[4] = (split_id(value.ids[1])) end
  redis.call(
    'HSET', state, order_field(producer, record[3]), key,
    timed_field(producer, key), cmsgpack.pack({record[3], value}), 'timed:' .. producer, cmsgpack.pack(record)
  )
  add(state, 'timed_keys', 1)
  local budget = FORGOTTEN_AT_ONCE
  while record[3] - record[2] + 1 > maxsize and budget > 0 do
    forget_oldest(state, producer, record)
    budget = budget - 1
  end
  if budget < FORGOTTEN_AT_ONCE then put(state, 'timed:' .. producer, record) end
  if record[3] % SWEPT_ONE_IN ~= 0 then return end
  local oldest = oldest_in_ring(state, 'timed')
  if oldest and oldest ~= producer and tonumber(redis.call('HGET', state, 'timed_keys')) > KEYS_MAX then
    forget_timed_producer(state, oldest, FORGOTTEN_AT_ONCE)
  end
end

local function touch_timed(state, producer)
  local record = timed_producer(state, producer)
  if not record then return end
  record[1] = touch_ring(state, 'timed', producer, record[1])
  put(state, 'timed:' .. producer, record)
end

-- Forgets all keys without an epoch; refused if they are too many for one call.
local function clear_timed(state)
  if tonumber(redis.call('HGET', state, 'timed_keys') or 0) > 20000 then refuse('FORGET_TOO_MANY', '20000') end
  local ring = get(state, 'ring:timed')
  if not ring then return end
  for place = ring[1], ring[2] do
    local producer = redis.call('HGET', state, 'ring:timed:' .. place)
    if producer then forget_timed_producer(state, producer, 20001) end
  end
  put(state, 'ring:timed', {ring[2] + 1, ring[2]})
end
