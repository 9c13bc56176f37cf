-- References from groups to entries: an entry is referenced while a group has it pending or has yet to read it.

-- Ids times groups that one call looks at: about 30 ms of the engine.
local LOOKS_MAX = 20000

local function with_pending(groups)
  local found = {}
  for _, group in ipairs(groups) do
    if group.pending > 0 then found[#found + 1] = group end
  end
  return found
end

local function require_few_looks(groups, ids)
  local asked = #with_pending(groups)
  if asked * #ids > LOOKS_MAX then
    refuse('REFERENCES', tostring(#ids), tostring(asked), tostring(LOOKS_MAX))
  end
end

-- The least position of the groups, nil without groups.
local function read_up_to(groups)
  local least
  for _, group in ipairs(groups) do
    local position = group['last-delivered-id']
    if not least or is_id_less(position, least) then least = position end
  end
  return least
end

-- The ids among `ids` that a group references, as a set.
local function referenced_among(stream, groups, ids)
  local kept = {}
  local position = read_up_to(groups)
  for _, id in ipairs(ids) do
    if position and is_id_less(position, id) then kept[id] = true end
  end
  for _, group in ipairs(with_pending(groups)) do
    for _, id in ipairs(ids) do
      if not kept[id] and pending_row(stream, group.name, id) then kept[id] = true end
    end
  end
  return kept
end

local function drop_references(stream, groups, ids)
  for _, group in ipairs(with_pending(groups)) do
    in_chunks(ids, ARGUMENTS_MAX, function(chunk) call_with({'XACK', stream, group.name}, chunk) end)
  end
end
