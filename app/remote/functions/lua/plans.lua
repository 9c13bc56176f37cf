-- Walks over the entries of a range, a bounded number in each call.

local WALKED_AT_ONCE = 100

local function walk(keys, args)
  local stream, from, to, left = keys[1], args[1], args[2], tonumber(args[3])
  local answer = {'ok'}
  while left > 0 do
    local rows = redis.call('XRANGE', stream, from, to, 'COUNT', math.min(left, WALKED_AT_ONCE))
    for _, row in ipairs(rows) do answer[#answer + 1] = row[1] end
    if #rows < WALKED_AT_ONCE or rows[#rows][1] == GREATEST_ID then break end
    left, from = left - #rows, '(' .. rows[#rows][1]
  end
  return answer
end
