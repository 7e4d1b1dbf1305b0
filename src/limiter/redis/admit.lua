--[[
  Admits requests, each under the limits of its key and its account: all of them together, or nothing is
  taken. The requests of a call are decided one after the other.

  Input, of each request:
    KEYS 1, 2    window and leases of its key
    KEYS 3, 4    window and leases of its account
    ARGV 1       lease id, names the slot until it is given back
    ARGV 2       tokens, input estimate plus output ceiling
    ARGV 3-5     of the key: requests per minute, tokens per minute, concurrent requests; '' is no bound
    ARGV 6-8     the same of the account

  Output, of each request:
    1            0 admitted, 1 a per-minute limit is short, 2 a concurrency limit is
    2            the wait in ms for the longest of the short windows; 0 when none is short
    3            second of the admission, by which it is corrected later
    4-8          the key: requests, tokens, ms until each is whole again, running
    9-13         the same of the account
]]
local ADMITTED, SHORT, FULL = 0, 1, 2

local function excess(used, wanted, limit)
  if not limit then return 0 end
  if limit <= 0 then return math.huge end
  return used + wanted - limit
end

local function rate_wait_ms(caller, now_ms, tokens, at)
  return math.max(
    wait_ms(caller, now_ms, REQUESTS, excess(caller.requests, 1, tonumber(ARGV[at]))),
    wait_ms(caller, now_ms, TOKENS, excess(caller.tokens, tokens, tonumber(ARGV[at + 1]))))
end

local function is_full(caller, at)
  local limit = tonumber(ARGV[at + 2])
  return limit and caller.running >= limit
end

local function take(caller, now_ms, tokens, lease)
  add(caller, now_ms, 1, tokens)
  add_lease(caller, lease, now_ms)
end

local reply = {}
for request = 0, #KEYS / 4 - 1 do
  local at = request * 8
  local key, account, now_ms = callers_at(request * 4 + 1)
  local lease, tokens = ARGV[at + 1], tonumber(ARGV[at + 2])
  local wait = math.max(
    rate_wait_ms(key, now_ms, tokens, at + 3),
    rate_wait_ms(account, now_ms, tokens, at + 6))

  local outcome = ADMITTED
  if wait > 0 then
    outcome = SHORT
  elseif is_full(key, at + 3) or is_full(account, at + 6) then
    outcome = FULL
  else
    take(key, now_ms, tokens, lease)
    take(account, now_ms, tokens, lease)
  end
  local first = #reply
  reply[first + 1], reply[first + 2], reply[first + 3] = outcome, wait, math.floor(now_ms / SLOT_MS)
  append_standing(reply, key, now_ms)
  append_standing(reply, account, now_ms)
end
save_callers()
return reply
