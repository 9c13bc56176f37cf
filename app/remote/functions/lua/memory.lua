-- The memory of a stream's idempotency keys: one hash, whose fields are single records.
--
--   incarnation            which stream the memory belongs to
--   duration, maxsize      the settings of keys without an epoch
--   added, duplicates      counters for the stream's life
--   producers, keys        how many are remembered, of both kinds
--   ring:<kind>            {head, tail} of the ring of producers, least recently used first
--   ring:<kind>:<n>        the producer at that place
--
-- `timed_keys` and `epochs` own the other fields. A record is packed by cmsgpack, which keeps every byte.

local function get(state, field)
  local packed = redis.call('HGET', state, field)
  if packed then return cmsgpack.unpack(packed) end
end

local function put(state, field, value)
  redis.call('HSET', state, field, cmsgpack.pack(value))
end

-- A name of bounded length before another name, so that the two cannot be mixed up.
local function with_length(name)
  return #name .. ':' .. name
end

local function add(state, field, by)
  redis.call('HINCRBY', state, field, by)
end

-- A value of a key: the ids of its append, and the fingerprint of the body.
local function remembered(ids, count, fingerprint)
  return {ids = ids, count = count, fingerprint = fingerprint}
end

-- Checks that a remembered append had the same body.
local function check_body(found, request)
  if request.fingerprint ~= '' and found.fingerprint ~= '' and request.fingerprint ~= found.fingerprint then
    refuse('ANOTHER_BODY')
  end
end

-- Puts a producer at the end of the ring of its kind: the most recently used. Returns its place.
local function touch_ring(state, kind, producer, place)
  local ring = get(state, 'ring:' .. kind) or {1, 0}
  if place and place == ring[2] then return place end
  if place then redis.call('HDEL', state, 'ring:' .. kind .. ':' .. place) end
  ring[2] = ring[2] + 1
  redis.call('HSET', state, 'ring:' .. kind .. ':' .. ring[2], producer)
  put(state, 'ring:' .. kind, ring)
  return ring[2]
end

-- The least recently used producer of a kind, nil if the next hundred places are empty.
local function oldest_in_ring(state, kind)
  local ring = get(state, 'ring:' .. kind)
  if not ring then return nil end
  for place = ring[1], math.min(ring[1] + 99, ring[2]) do
    local producer = redis.call('HGET', state, 'ring:' .. kind .. ':' .. place)
    if producer then return producer end
    put(state, 'ring:' .. kind, {place + 1, ring[2]})
  end
end

local function remove_from_ring(state, kind, place)
  redis.call('HDEL', state, 'ring:' .. kind .. ':' .. place)
end
