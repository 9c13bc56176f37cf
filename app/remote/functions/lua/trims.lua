-- Trims with a reference policy, for engines without them. A trim is {native, policy, rule, threshold, limit}.
--
-- The policies other than KEEPREF are exact even for an approximate trim. A limit counts entries, not nodes.

-- Entries that one trim under ACKED examines; the next trim continues.
local EXAMINED_MAX = 5000
-- Entries that a trim under DELREF removes, times groups with pending entries.
local TRIMMED_MAX = 50000
local CHUNK = 200

local function plain_trim(stream, trim)
  local rule, operator = string.match(trim[3], '^(%a+)(.)$')
  local words = {'XTRIM', stream, rule, operator, trim[4]}
  if trim[5] ~= '' then
    words[#words + 1] = 'LIMIT'
    words[#words + 1] = trim[5]
  end
  if trim[1] == '1' and trim[2] ~= 'KEEPREF' then words[#words + 1] = trim[2] end
  return redis.call(unpack(words))
end

local function is_native(trim)
  return trim[1] == '1' or trim[2] == 'KEEPREF'
end

-- The greatest number of entries to remove.
local function limit_of(trim)
  if string.sub(trim[3], -1) ~= '~' then return math.huge end
  local limit = trim[5] == '' and 10000 or tonumber(trim[5])
  return limit == 0 and math.huge or limit
end

local function by_length(trim)
  return string.sub(trim[3], 1, 6) == 'MAXLEN'
end

-- How many of the first entries go, and the id of the first that stays, nil if none stays.
local function first_kept(stream, trim)
  local length = redis.call('XLEN', stream)
  local most = math.min(limit_of(trim), TRIMMED_MAX + 1)
  local count
  if by_length(trim) then
    count = math.min(math.max(length - tonumber(trim[4]), 0), most)
  elseif trim[4] == '0-0' then
    count = 0
  else
    count = #redis.call('XRANGE', stream, '-', '(' .. trim[4], 'COUNT', most)
  end
  if count == 0 or count == length then return count, nil end
  if count > TRIMMED_MAX then return count, nil end
  if length - count < count then
    local rest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', length - count)
    return count, rest[#rest][1]
  end
  local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', count + 1)
  return count, first[#first][1]
end

-- The pending ids of a group before `id` (nil: all), whose entries are live.
local function live_pending_before(stream, group, id)
  local ids, from = {}, '-'
  local to = id and '(' .. id or '+'
  while true do
    local rows = redis.call('XPENDING', stream, group, from, to, 1000)
    for _, row in ipairs(rows) do
      if is_live(stream, row[1]) then ids[#ids + 1] = row[1] end
    end
    if #rows < 1000 then return ids end
    from = '(' .. rows[#rows][1]
  end
end

local function trim_dropping(stream, trim)
  local count, kept = first_kept(stream, trim)
  if count == 0 then return 0 end
  for _, group in ipairs(with_pending(groups_of(stream))) do
    local ids = live_pending_before(stream, group.name, kept)
    in_chunks(ids, ARGUMENTS_MAX, function(chunk) call_with({'XACK', stream, group.name}, chunk) end)
  end
  if kept then return redis.call('XTRIM', stream, 'MINID', '=', kept) end
  return redis.call('XTRIM', stream, 'MAXLEN', '=', 0)
end

-- The ids from `first` to `last` that any of the groups has pending, as a set.
local function pending_between(stream, groups, first, last)
  local found = {}
  for _, group in ipairs(groups) do
    for _, row in ipairs(redis.call('XPENDING', stream, group.name, first, last, CHUNK)) do found[row[1]] = true end
  end
  return found
end

-- Chooses the entries to remove: those before the first kept one, and others after it.
local function choose_acknowledged(stream, trim, groups)
  local position, asked = read_up_to(groups), with_pending(groups)
  local length = redis.call('XLEN', stream)
  local excess = by_length(trim) and length - tonumber(trim[4]) or math.huge
  excess = math.min(excess, limit_of(trim))
  local leading, others, kept, from, examined = 0, {}, nil, '-', 0
  while excess > 0 and examined < EXAMINED_MAX do
    local rows = redis.call('XRANGE', stream, from, '+', 'COUNT', CHUNK)
    if #rows == 0 then return leading, others, kept end
    local pending = pending_between(stream, asked, rows[1][1], rows[#rows][1])
    for _, row in ipairs(rows) do
      local id = row[1]
      local is_over = excess == 0 or (position and is_id_less(position, id))
      if is_over or (not by_length(trim) and not is_id_less(id, trim[4])) then
        return leading, others, kept or id
      end
      if pending[id] then
        kept = kept or id
      elseif kept then
        others[#others + 1], excess = id, excess - 1
      else
        leading, excess = leading + 1, excess - 1
      end
    end
    examined = examined + #rows
    from = '(' .. rows[#rows][1]
  end
  if not kept and leading > 0 then
    local rest = redis.call('XRANGE', stream, from, '+', 'COUNT', 1)
    kept = rest[1] and rest[1][1]
  end
  return leading, others, kept
end

-- XDEL moves the greatest deleted id, which a trim must not do.
local function delete_as_trim(stream, ids)
  local before = info(stream)
  in_chunks(ids, ARGUMENTS_MAX, function(chunk) call_with({'XDEL', stream}, chunk) end)
  local max_deleted = before['max-deleted-entry-id']
  if max_deleted and max_deleted ~= '0-0' then
    redis.call('XSETID', stream, before['last-generated-id'], 'MAXDELETEDID', max_deleted)
  end
end

local function trim_acknowledged(stream, trim)
  local leading, others, kept = choose_acknowledged(stream, trim, groups_of(stream))
  if leading > 0 and kept then
    redis.call('XTRIM', stream, 'MINID', '=', kept)
  elseif leading > 0 then
    redis.call('XTRIM', stream, 'MAXLEN', '=', 0)
  end
  if #others > 0 then delete_as_trim(stream, others) end
  return leading + #others
end

-- Refuses a trim that would look at too much, before `adding` entries are appended.
local function check_trim(stream, trim, adding)
  if is_native(trim) or trim[2] ~= 'DELREF' or not exists(stream) then return end
  local groups = math.max(#with_pending(groups_of(stream)), 1)
  local count = first_kept(stream, trim)
  if (count + adding) * groups > TRIMMED_MAX then refuse('TRIM_TOO_LARGE', tostring(TRIMMED_MAX)) end
end

-- How many entries the trim removed.
local function trim_stream(stream, trim)
  if is_native(trim) then return plain_trim(stream, trim) end
  if trim[2] == 'DELREF' then return trim_dropping(stream, trim) end
  return trim_acknowledged(stream, trim)
end

local function trim(keys, args)
  if not exists(keys[1]) then return {'ok'} end
  check_trim(keys[1], args, 0)
  return {'ok', trim_stream(keys[1], args)}
end
