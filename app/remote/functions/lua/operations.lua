-- The operations by name, and the one function that the engine runs.

local OPERATIONS = {
  append = append, find = find, producer = producer_epochs, take_over = take_over,
  read_group = read_group, available = available, nack = nack, nacked_groups = nacked_groups, claim = claim, extend = extend, oldest = oldest,
  delete_consumer = delete_consumer,
  delete = delete, ack_delete = ack_delete, trim = trim,
  mark = mark_stream, state = state_of, configure = configure, record = record,
  rename = rename, copy = copy, drop = drop, sweep = sweep, walk = walk,
  auto_claim = auto_claim, redrive = dead_letters.redrive, configure_group = group_settings.configure,
  group_settings = group_settings.list, renew_group = group_settings.renew,
  retire = retention.apply, configure_retention = retention.configure, retention = retention.show,
  forget_announced = group_settings.forget_announced,
}

-- Runs the operation that the last argument names. An error of the engine is answered word for word: the engine's
-- `pcall` gives it as its line. Other texts are faults of the library.
local function answer(keys, args)
  local operation = table.remove(args)
  local succeeded, result = pcall(OPERATIONS[operation], keys, args)
  if succeeded then return result end
  if type(result) == 'table' and result.refused then return result.refused end
  local line = type(result) == 'table' and result.err or tostring(result)
  if string.match(line, '^%-?%u+ ') then return {err = line} end
  return {err = 'ERR the function library failed: ' .. line}
end
