--[[
  A caller is a key or an account: its window and its leases. A script call loads and saves each caller once.

  Input, for each request:
    KEYS 1, 2    window and leases of its key
    KEYS 3, 4    window and leases of its account
]]
local callers, clock_now_ms = {}, clock_ms()

local function caller_at(index)
  local window_key, leases_key = KEYS[index], KEYS[index + 1]
  local caller = callers[window_key]
  if not caller then
    caller = load_caller(window_key, leases_key)
    callers[window_key] = caller
    callers[#callers + 1] = caller
  end
  return caller
end

local function bring_to(caller, now_ms)
  advance(caller, now_ms)
  if now_ms >= caller.lease_end_ms then end_leases(caller, now_ms) end
end

-- Returns key and account of the request whose keys begin at `index`, and the time for both.
local function callers_at(index)
  local key, account = caller_at(index), caller_at(index + 2)
  local now_ms = steady_ms(key, account, clock_now_ms)
  bring_to(key, now_ms)
  bring_to(account, now_ms)
  return key, account, now_ms
end

local function save_callers()
  for _, caller in ipairs(callers) do
    save_leases(caller)
    if caller.is_changed then save_window(caller) end
  end
end

-- Appends a snapshot: requests, tokens, ms until each is reset, running requests.
local function append_snapshot(reply, caller, now_ms)
  local at = #reply
  reply[at + 1], reply[at + 2] = caller.requests, caller.tokens
  reply[at + 3], reply[at + 4] = reset_ms(caller, now_ms, REQUESTS), reset_ms(caller, now_ms, TOKENS)
  reply[at + 5] = caller.running
end
