local ADMITTED, SHORT, FULL = 0, 1, 2
local DECISION = '<ddddddddddd'

local function excess(used, wanted, limit)
  return limit > 0 and used + wanted - limit or math.huge
end

local function rate_wait_ms(caller, now_ms, tokens, requests_max, tokens_max)
  local is_within = caller.requests < requests_max and caller.tokens + tokens <= tokens_max
  if is_within and tokens_max > 0 then return 0 end
  local requests_over = excess(caller.requests, 1, requests_max)
  local tokens_over = excess(caller.tokens, tokens, tokens_max)
  if requests_over <= 0 and tokens_over <= 0 then return 0 end
  return max(
    wait_ms(caller, now_ms, REQUESTS, requests_over),
    wait_ms(caller, now_ms, TOKENS, tokens_over))
end

local function take(caller, now_ms, tokens, lease, lease_end)
  add_now(caller, now_ms, tokens)
  add_lease(caller, lease, lease_end)
end

--[[
  Admits a request. It must fit the limits of its key and of its account, or nothing is taken.

    key, account  callers of the request
    now_ms        time for both
    lease         id of the slot, until its release
    tokens        input estimate plus maximum output tokens
    key_requests, key_tokens, key_slots              limits of the key: requests per minute, tokens per minute
                                                     and concurrent requests
    account_requests, account_tokens, account_slots  limits of the account

  Returns 11 little-endian doubles:
    1             0 admitted, 1 a per-minute limit is exceeded, 2 a concurrency limit is exceeded
    2             longest wait in ms for the exceeded per-minute limits; 0 when none is exceeded
    3             second of the admission, the key for later corrections
    4-7           snapshot of the key: requests, tokens, ms until each is reset
    8-11          snapshot of the account, with the fields of 4-7
]]
local function admit(
  key, account, now_ms, lease, tokens,
  key_requests, key_tokens, key_slots, account_requests, account_tokens, account_slots
)
  local wait = max(
    rate_wait_ms(key, now_ms, tokens, key_requests, key_tokens),
    rate_wait_ms(account, now_ms, tokens, account_requests, account_tokens))

  local outcome = ADMITTED
  if wait > 0 then
    outcome = SHORT
  elseif key.running >= key_slots or account.running >= account_slots then
    outcome = FULL
  else
    local lease_end = lease_text(now_ms)
    take(key, now_ms, tokens, lease, lease_end)
    take(account, now_ms, tokens, lease, lease_end)
  end
  local requests, tokens_used, requests_reset_ms, tokens_reset_ms = snapshot(key, now_ms)
  return pack(DECISION, outcome, wait, floor(now_ms / SLOT_MS),
    requests, tokens_used, requests_reset_ms, tokens_reset_ms, snapshot(account, now_ms))
end
