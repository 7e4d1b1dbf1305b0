--[[
  Reads the snapshots of a key and its account. Counts nothing, but saves the removal of expired slots and
  leases.

  Input:
    KEYS 1, 2    window and leases of the key
    KEYS 3, 4    window and leases of the account

  Output:
    1-5          snapshot of the key: requests, tokens, ms until each is reset, running
    6-10         snapshot of the account, with the fields of 1-5
]]
local key, account, now_ms = callers_at(1)
local reply = {}
append_snapshot(reply, key, now_ms)
append_snapshot(reply, account, now_ms)
save_callers()
return reply
