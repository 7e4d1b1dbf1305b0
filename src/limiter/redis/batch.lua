--[[
  Executes a batch: the settlements, renewals and admissions of one event-loop turn of one gateway, each in
  order. Settlements are first, because they free slots for the admissions.

  Input:
    KEYS         window and leases of each key and each account of the batch, each caller once
    ARGV 1       JSON of five flat arrays:
      callers      positions in KEYS of the windows of a key and its account
      limits       of a key: requests per minute, tokens per minute and concurrent requests; then of its
                   account
      settlements, renewals and admissions: their values, in the order of the parameters in settle.lua,
                   renew.lua and admit.lua. The first is a lease id, the second a position in callers.

  Output:
    a string of little-endian doubles: for each settlement 1 if its lease existed, else 0; then 11 for each
    admission, as `admit` returns them
]]
local callers_of, limits_of, settlements, renewals, admissions = unpack(cjson.decode(ARGV[1]))
local ZERO, ONE = pack('<d', 0), pack('<d', 1)
local reply = {}
for at = 1, #settlements, 5 do
  local lease, caller, second, requests, tokens = unpack(settlements, at, at + 4)
  local key, account = caller_at(callers_of[caller]), caller_at(callers_of[caller + 1])
  reply[#reply + 1] = settle(key, account, lease, second, requests, tokens) and ONE or ZERO
end
for at = 1, #renewals, 2 do
  local caller = renewals[at + 1]
  renew(caller_at(callers_of[caller]), caller_at(callers_of[caller + 1]), renewals[at])
end
-- A lease that a renewal restores takes a slot from the admissions that follow.
if #renewals > 0 then save_all_leases() end
for at = 1, #admissions, 4 do
  local lease, caller, tokens, limits = unpack(admissions, at, at + 3)
  local key, account, now_ms = callers_at(callers_of[caller], callers_of[caller + 1])
  reply[#reply + 1] = admit(key, account, now_ms, lease, tokens, unpack(limits_of, limits, limits + 5))
end
save_callers()
return table.concat(reply)
