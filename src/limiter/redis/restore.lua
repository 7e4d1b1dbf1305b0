--[[
  Counts requests that a gateway admitted while this server was down. A repeated call changes nothing.

  Input:
    KEYS 1, 2    window and leases of the key
    KEYS 3, 4    window and leases of the account
    KEYS 5       recorded answer, returned by repeated calls
    ARGV         for each second: age in ms of its last admission, requests, tokens

  Output:
    for each second of ARGV: the second under which it is counted here; 0 when it is older than a minute
]]
local function restore()
  local key, account, now_ms = callers_at(1, 3)
  local seconds = {}
  for at = 1, #ARGV, 3 do
    local age_ms, requests, tokens = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    local last_ms = now_ms - age_ms
    local is_counted = age_ms < WINDOW_MS
    seconds[#seconds + 1] = is_counted and floor(last_ms / SLOT_MS) or 0
    if is_counted then
      add(key, last_ms, requests, tokens)
      add(account, last_ms, requests, tokens)
    end
  end
  save_callers()
  call('SET', KEYS[5], cmsgpack.pack(seconds), 'PX', WINDOW_TTL_MS)
  return seconds
end

local answered = call('GET', KEYS[5])
return answered and cmsgpack.unpack(answered) or restore()
