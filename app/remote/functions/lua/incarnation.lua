-- The incarnation of a stream: a consumer group whose name holds it, at the greatest id.
--
-- The group goes wherever the stream goes, and ends with it. The stream's state names the incarnation that it
-- belongs to: the state of a stream that is gone, whoever deleted it, is never taken for that of a later one.

local GREATEST_ID = MAX .. '-' .. MAX

local function marked_as(stream, incarnation)
  local answer = redis.pcall('XPENDING', stream, RESERVED .. incarnation, '-', '+', 1)
  return answer.err == nil
end

-- The incarnation of an existing stream, nil if it has no mark yet.
local function find_incarnation(stream, known)
  if known and marked_as(stream, known) then return known end
  for _, flat in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    local name = to_map(flat).name
    if is_mark(name) then return string.sub(name, #RESERVED + 1) end
  end
end

-- Whether the state belongs to the stream as it is now. Changes nothing.
local function has_state(stream, state)
  local known = redis.call('HGET', state, 'incarnation')
  return known and marked_as(stream, known)
end

-- Forgets a state, but for the order of nacks, which must keep rising.
local function forget_state(state)
  local nacks = redis.call('HGET', state, 'nacks')
  redis.call('UNLINK', state)
  if nacks then redis.call('HSET', state, 'nacks', nacks) end
end

-- Marks the existing stream with `fresh` unless it is marked; forgets the state of an earlier stream.
local function mark(stream, state, fresh)
  local known = redis.call('HGET', state, 'incarnation')
  local found = find_incarnation(stream, known)
  if not found then
    redis.call('XGROUP', 'CREATE', stream, RESERVED .. fresh, GREATEST_ID)
    found = fresh
  end
  if known and known ~= found then forget_state(state) end
  if known ~= found then redis.call('HSET', state, 'incarnation', found) end
  return found
end
