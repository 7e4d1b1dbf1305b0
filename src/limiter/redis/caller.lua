--[[
  A caller is a key or an account: its window and its leases. A script call loads and saves each caller once,
  so the windows in KEYS must be distinct. Each is followed by its leases.
]]
local callers, loaded, clock_now_ms = {}, {}, clock_ms()

-- Returns the caller whose window is `KEYS[at]`.
local function caller_at(at)
  local caller = callers[at]
  if not caller then
    caller = load_caller(KEYS[at], KEYS[at + 1])
    callers[at] = caller
    loaded[#loaded + 1] = caller
  end
  return caller
end

local function bring_to(caller, now_ms)
  advance(caller, now_ms)
  if now_ms >= caller.lease_end_ms then end_leases(caller, now_ms) end
end

-- Returns key and account by the positions of their windows, and the time for both.
local function callers_at(key_at, account_at)
  local key, account = caller_at(key_at), caller_at(account_at)
  local now_ms = steady_ms(key, account, clock_now_ms)
  bring_to(key, now_ms)
  bring_to(account, now_ms)
  return key, account, now_ms
end

local function save_all_leases()
  for _, caller in ipairs(loaded) do save_leases(caller) end
end

local function save_callers()
  save_all_leases()
  for _, caller in ipairs(loaded) do
    if caller.is_changed then save_window(caller) end
  end
end

-- Returns requests, tokens, and the ms until each is reset.
local function snapshot(caller, now_ms)
  if caller.slot_requests > 0 and caller.slot_tokens > 0 and caller.oldest <= caller.newest then
    local ms = caller.last_ms + WINDOW_MS - now_ms
    return caller.requests, caller.tokens, ms, ms
  end
  return caller.requests, caller.tokens, reset_ms(caller, now_ms, REQUESTS), reset_ms(caller, now_ms, TOKENS)
end
