-- Retention of a stream: its first entries go by rules. The rules are in the hash of the stream's settings:
--
--   retention:<rule>            max_age_ms, max_length; acknowledged and protect_unread are 1
--   removed:<rule>              how many entries the rule has removed
--   removed_at_ms               when the last ones were removed
--
-- An append removes whole nodes of the engine (`~`), the sweep of the gateways the rest (`=`). The sweep also removes
-- what groups have pending before the first entry: nobody could process it.

local retention = {
  rules = {'max_age_ms', 'max_length', 'acknowledged', 'protect_unread'},
  removing = {'max_age_ms', 'max_length', 'acknowledged'},
  step = 1000,
  counted_max = 10000,
}

-- The rules of the stream as texts, nil without any.
function retention.of(stream, settings)
  local fields = {}
  for index, rule in ipairs(retention.rules) do fields[index] = 'retention:' .. rule end
  local found = redis.call('HMGET', settings, 'incarnation', unpack(fields))
  if not found[1] or not marked_as(stream, found[1]) then return nil end
  local rules = {}
  for index, rule in ipairs(retention.rules) do rules[rule] = found[index + 1] or nil end
  return next(rules) and rules
end

-- The id from which on a group has entries to read; nil without groups.
function retention.first_unread(groups)
  local position = read_up_to(groups)
  return position and (next_id(position) or position)
end

-- The id from which on a group still needs entries; the least without groups.
function retention.first_needed(stream, groups)
  local least = retention.first_unread(groups) or '0-0'
  for _, group in ipairs(with_pending(groups)) do
    local first = redis.call('XPENDING', stream, group.name)[2]
    if first and is_id_less(first, least) then least = first end
  end
  return least
end

-- The id below which the rule lets entries go, nil if it removes none. For a length, it looks at one step only.
function retention.limit_of(stream, rule, rules, groups)
  if rule == 'max_age_ms' then
    return string.format('%.0f-0', math.max(now_ms() - tonumber(rules.max_age_ms), 0))
  elseif rule == 'acknowledged' then
    return retention.first_needed(stream, groups)
  end
  local excess = redis.call('XLEN', stream) - tonumber(rules.max_length)
  if excess <= 0 then return nil end
  local rows = redis.call('XRANGE', stream, '-', '+', 'COUNT', math.min(excess, retention.step) + 1)
  return rows[#rows][1]
end

-- Removes what one rule lets go. Returns how many entries went.
function retention.trim(stream, rule, rules, groups, operator)
  if rule == 'max_length' and not rules.protect_unread then
    return redis.call('XTRIM', stream, 'MAXLEN', operator, rules.max_length)
  end
  local limit = retention.limit_of(stream, rule, rules, groups)
  local unread = limit and rules.protect_unread and retention.first_unread(groups)
  if unread and is_id_less(unread, limit) then limit = unread end
  return limit and redis.call('XTRIM', stream, 'MINID', operator, limit) or 0
end

-- Removes pending entries before the first entry, one step of them. Returns 1 if some may be left, else 0.
function retention.drop_pending(stream, groups)
  local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  local last = first and '(' .. first[1] or to_map(redis.call('XINFO', 'STREAM', stream))['last-generated-id']
  local left = retention.step
  for _, group in ipairs(with_pending(groups)) do
    local rows = redis.call('XPENDING', stream, group.name, '-', last, left)
    local ids = {}
    for index, row in ipairs(rows) do ids[index] = row[1] end
    if #ids > 0 then call_with({'XACK', stream, group.name}, ids) end
    left = left - #ids
    if left == 0 then return 1 end
  end
  return 0
end

-- Applies the rules. Arguments: how exactly, ~ or =. Answers how many entries went, and 1 if pending entries are left.
function retention.apply(keys, args)
  local stream, settings, total = keys[1], keys[2], 0
  local rules = redis.call('TYPE', stream).ok == 'stream' and retention.of(stream, settings)
  if not rules then return {'ok', 0, 0} end
  local is_sweep = args[1] == '='
  local groups = (is_sweep or rules.acknowledged or rules.protect_unread) and groups_of(stream) or {}
  for _, rule in ipairs(retention.removing) do
    local count = rules[rule] and retention.trim(stream, rule, rules, groups, args[1]) or 0
    if count > 0 then redis.call('HINCRBY', settings, 'removed:' .. rule, count) end
    total = total + count
  end
  if total > 0 then redis.call('HSET', settings, 'removed_at_ms', string.format('%.0f', now_ms())) end
  return {'ok', total, is_sweep and retention.drop_pending(stream, groups) or 0}
end

-- Replaces the rules. Arguments: a new incarnation, then names of rules with their values.
function retention.configure(keys, args)
  local stream, settings = keys[1], keys[2]
  if not exists(stream) then refuse('NO_SUCH_KEY') end
  if #args == 1 and not exists(settings) then return {'ok'} end
  mark(stream, settings, args[1])
  for _, rule in ipairs(retention.rules) do redis.call('HDEL', settings, 'retention:' .. rule) end
  for index = 2, #args, 2 do redis.call('HSET', settings, 'retention:' .. args[index], args[index + 1]) end
  return {'ok'}
end

-- The number and the bytes of entries that only the protection keeps, counted up to a bound.
function retention.protected(stream, rules)
  local groups = groups_of(stream)
  if not rules.protect_unread or #groups == 0 then return 0, 0 end
  local excess = rules.max_length and redis.call('XLEN', stream) - tonumber(rules.max_length) or 0
  local limit = rules.max_age_ms and retention.limit_of(stream, 'max_age_ms', rules, groups) or '0-0'
  local unread = retention.first_unread(groups)
  local examined, count, bytes, from = 0, 0, 0, '-'
  while examined < retention.counted_max do
    local rows = redis.call('XRANGE', stream, from, '+', 'COUNT', retention.step)
    for _, row in ipairs(rows) do
      if examined >= excess and not is_id_less(row[1], limit) then return count, bytes end
      examined = examined + 1
      if not is_id_less(row[1], unread) then
        count = count + 1
        for _, word in ipairs(row[2]) do bytes = bytes + #word end
      end
    end
    if #rows < retention.step or rows[#rows][1] == GREATEST_ID then break end
    from = '(' .. rows[#rows][1]
  end
  return count, bytes
end

-- Answers the rules, what each has removed and when, and what is protected; nothing without rules.
function retention.show(keys)
  local stream, settings = keys[1], keys[2]
  local rules = exists(stream) and retention.of(stream, settings)
  if not rules then return {'ok'} end
  local answer = {'ok'}
  for _, rule in ipairs(retention.rules) do answer[#answer + 1] = rules[rule] or '' end
  for _, rule in ipairs(retention.removing) do
    answer[#answer + 1] = redis.call('HGET', settings, 'removed:' .. rule) or '0'
  end
  local count, bytes = retention.protected(stream, rules)
  answer[#answer + 1] = redis.call('HGET', settings, 'removed_at_ms') or ''
  answer[#answer + 1] = count
  answer[#answer + 1] = bytes
  return answer
end
