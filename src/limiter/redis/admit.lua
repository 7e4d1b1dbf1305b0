--[[
  Admits requests one after the other. Each must fit the limits of its key and of its account, or nothing is
  taken.

  Input, for each request:
    KEYS 1, 2    window and leases of its key
    KEYS 3, 4    window and leases of its account
    ARGV 1       lease id, names the slot until its release
    ARGV 2       tokens: input estimate plus maximum output tokens
    ARGV 3       six limits, separated by spaces; '-' is unlimited. Requests per minute, tokens per minute and
                 concurrent requests of its key, then of its account.

  Output, for each request:
    1            0 admitted, 1 a per-minute limit is exceeded, 2 a concurrency limit is exceeded
    2            longest wait in ms for the exceeded per-minute limits; 0 when none is exceeded
    3            second of the admission, the key for later corrections
    4-8          snapshot of the key: requests, tokens, ms until each is reset, running
    9-13         snapshot of the account, with the fields of 4-8
]]
local ADMITTED, SHORT, FULL = 0, 1, 2

-- Parsed limits by their text: most callers share a few texts.
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
  append_snapshot(reply, key, now_ms)
  append_snapshot(reply, account, now_ms)
end
save_callers()
return reply
