-- Questions to the engine about streams and groups, and refusals. Changes nothing.

local RESERVED = '\0tailrace:'
local NACKED = RESERVED .. 'nacked'
-- Lua passes no more arguments than about this to one command.
local ARGUMENTS_MAX = 7000

-- Ends the call with a refusal that the gateway knows; nothing may have changed before.
local function refuse(...)
  error({refused = {'refused', ...}})
end

-- Runs `call` of a command with the words of a list after its first words.
local function call_with(first, words)
  local all = {}
  for index = 1, #first do all[index] = first[index] end
  for index = 1, #words do all[#all + 1] = words[index] end
  return redis.call(unpack(all))
end

-- Calls `act` with lists of at most `size` of the items.
local function in_chunks(list, size, act)
  for start = 1, #list, size do
    local chunk = {}
    for index = start, math.min(start + size - 1, #list) do chunk[#chunk + 1] = list[index] end
    act(chunk)
  end
end

local function to_map(flat)
  local map = {}
  for index = 1, #flat, 2 do map[flat[index]] = flat[index + 1] end
  return map
end

local function exists(stream)
  return redis.call('EXISTS', stream) == 1
end

local function info(stream)
  return to_map(redis.call('XINFO', 'STREAM', stream))
end

-- Whether the engine has IDMP and XCFGSET itself. An engine that is upgraded loads the library again, so it is asked
-- again, and gateways that started before the upgrade do as those that started after it.
local engine_has_idmp

local function has_idmp()
  if engine_has_idmp == nil then
    engine_has_idmp = type(redis.call('COMMAND', 'INFO', 'XCFGSET')[1]) == 'table'
  end
  return engine_has_idmp
end

local function is_mark(name)
  return string.sub(name, 1, #RESERVED) == RESERVED
end

-- The groups of a stream without the mark, as maps.
local function groups_of(stream)
  local groups = {}
  for _, flat in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    local group = to_map(flat)
    if not is_mark(group.name) then groups[#groups + 1] = group end
  end
  return groups
end

local function position_of(stream, name)
  for _, group in ipairs(groups_of(stream)) do
    if group.name == name then return group['last-delivered-id'] end
  end
end

local function is_live(stream, id)
  return #redis.call('XRANGE', stream, id, id) == 1
end

-- The row {id, consumer, idle, count} of a pending entry, nil if it is not pending.
local function pending_row(stream, group, id)
  return redis.call('XPENDING', stream, group, id, id, 1)[1]
end

-- Unix milliseconds as a number.
local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Raises the engine's error if the stream or the group is missing, before anything has changed.
local function require_group(stream, group)
  redis.call('XPENDING', stream, group, '-', '+', 1)
end
