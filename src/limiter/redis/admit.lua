--[[
  Admits requests, each under the limits of its key and its account: all of them together, or nothing is
  taken. The requests of a call are decided one after the other.

  Input, of each request:
    KEYS 1, 2    window and leases of its key
    KEYS 3, 4    window and leases of its account
    ARGV 1       lease id, names the slot until it is given back
    ARGV 2       tokens, input estimate plus output ceiling
    ARGV 3       limits: requests per minute, tokens per minute and concurrent requests of its key, and the same
                 of its account, in one text with spaces between; '-' is no bound

  Output, of each request:
    1            0 admitted, 1 a per-minute limit is short, 2 a concurrency limit is
    2            the wait in ms for the longest of the short windows; 0 when none is short
    3            second of the admission, by which it is corrected later
    4-8          the key: requests, tokens, ms until each is whole again, running
    9-13         the same of the account
]]
local ADMITTED, SHORT, FULL = 0, 1, 2

-- By their text: most callers have the same.
local known_limits = {}

local function limits_of(text)
  local limits = known_limits[text]
  if limits then return limits end
  limits = {}
  for limit in string.gmatch(text, '%S+') do limits[#limits + 1] = tonumber(limit) or math.huge end
  known_limits[text] = limits
  return limits
end

local function excess(used, wanted, limit)
  return limit > 0 and used + wanted - limit or math.huge
end

local function rate_wait_ms(caller, now_ms, tokens, requests_max, tokens_max)
  local requests_over = excess(caller.requests, 1, requests_max)
  local tokens_over = excess(caller.tokens, tokens, tokens_max)
  if requests_over <= 0 and tokens_over <= 0 then return 0 end
  return math.max(
    wait_ms(caller, now_ms, REQUESTS, requests_over),
    wait_ms(caller, now_ms, TOKENS, tokens_over))
end

local function take(caller, now_ms, tokens, lease, lease_end)
  add_now(caller, now_ms, tokens)
  add_lease(caller, lease, lease_end)
end

local reply = {}
for request = 0, #KEYS / 4 - 1 do
  local at = request * 3
  local key, account, now_ms = callers_at(request * 4 + 1)
  local lease, tokens, limits = ARGV[at + 1], tonumber(ARGV[at + 2]), limits_of(ARGV[at + 3])
  local wait = math.max(
    rate_wait_ms(key, now_ms, tokens, limits[1], limits[2]),
    rate_wait_ms(account, now_ms, tokens, limits[4], limits[5]))

  local outcome = ADMITTED
  if wait > 0 then
    outcome = SHORT
  elseif key.running >= limits[3] or account.running >= limits[6] then
    outcome = FULL
  else
    local lease_end = lease_text(now_ms)
    take(key, now_ms, tokens, lease, lease_end)
    take(account, now_ms, tokens, lease, lease_end)
  end
  local first = #reply
  reply[first + 1], reply[first + 2], reply[first + 3] = outcome, wait, math.floor(now_ms / SLOT_MS)
  append_standing(reply, key, now_ms)
  append_standing(reply, account, now_ms)
end
save_callers()
return reply
