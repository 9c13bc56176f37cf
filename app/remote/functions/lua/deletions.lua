-- XDELEX and XACKDEL for engines without them: one result for each id, 1 deleted, 2 still referenced, -1 not there.

local function all_missing(count)
  local answer = {'ok'}
  for index = 1, count do answer[index + 1] = -1 end
  return answer
end

-- The arguments from `at` on, without repetitions if `distinct`.
local function ids_from(args, at, distinct)
  local ids, seen = {}, {}
  for index = at, #args do
    if not (distinct and seen[args[index]]) then ids[#ids + 1] = args[index] end
    seen[args[index]] = true
  end
  return ids
end

local function delete(keys, args)
  local stream, policy = keys[1], args[1]
  local ids = ids_from(args, 2)
  if not exists(stream) then return all_missing(#ids) end
  -- Raises WRONGTYPE before anything has changed.
  redis.call('XLEN', stream)
  local groups, kept = {}, {}
  if policy ~= 'KEEPREF' then
    groups = groups_of(stream)
    require_few_looks(groups, ids)
  end
  if policy == 'ACKED' then kept = referenced_among(stream, groups, ids) end
  if policy == 'DELREF' then drop_references(stream, groups, ids_from(args, 2, true)) end
  local answer = {'ok'}
  for index, id in ipairs(ids) do
    if kept[id] then
      answer[index + 1] = 2
    else
      answer[index + 1] = redis.call('XDEL', stream, id) == 1 and 1 or -1
    end
  end
  return answer
end

local function find_group(stream, name)
  for _, group in ipairs(exists(stream) and groups_of(stream) or {}) do
    if group.name == name then return group end
  end
end

local function ack_delete(keys, args)
  local stream, policy, name = keys[1], args[1], args[2]
  local ids = ids_from(args, 3)
  if not find_group(stream, name) then return all_missing(#ids) end
  local groups = groups_of(stream)
  if policy ~= 'KEEPREF' then require_few_looks(groups, ids) end
  local acknowledged, deleted, outcome = {}, {}, {}
  for _, id in ipairs(ids) do
    if redis.call('XACK', stream, name, id) == 1 then acknowledged[#acknowledged + 1] = id end
  end
  groups = groups_of(stream)
  local kept = policy == 'ACKED' and referenced_among(stream, groups, acknowledged) or {}
  for _, id in ipairs(acknowledged) do
    outcome[id] = kept[id] and 2 or 1
    if not kept[id] then deleted[#deleted + 1] = id end
  end
  if policy == 'DELREF' then drop_references(stream, groups, deleted) end
  in_chunks(deleted, ARGUMENTS_MAX, function(chunk) call_with({'XDEL', stream}, chunk) end)
  local answer = {'ok'}
  for index, id in ipairs(ids) do
    answer[index + 1] = outcome[id] or -1
    outcome[id] = nil
  end
  return answer
end
