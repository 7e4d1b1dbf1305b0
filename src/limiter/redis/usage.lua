--[[
  Reads the snapshots of a key and its account. Counts nothing, but saves the removal of expired slots and
  leases.

  Input:
    KEYS 1, 2    window and leases of the key
    KEYS 3, 4    window and leases of the account

  Output:
    1-4          snapshot of the key: requests, tokens, ms until each is reset
    5-8          snapshot of the account, with the fields of 1-4
    9, 10        running requests of the key and of the account
]]
local key, account, now_ms = callers_at(1, 3)
local reply = { snapshot(key, now_ms) }
for _, number in ipairs({ snapshot(account, now_ms) }) do reply[#reply + 1] = number end
reply[#reply + 1], reply[#reply + 2] = key.running, account.running
save_callers()
return reply
