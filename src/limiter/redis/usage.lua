--[[
  Reads without taking. What has ended meanwhile is left out of what is kept, too.

  Input:
    KEYS 1, 2    window and leases of the key
    KEYS 3, 4    window and leases of the account

  Output:
    1-5          the key: requests, tokens, ms until each is whole again, running
    6-10         the same of the account
]]
local key, account, now_ms = callers_at(1)
local reply = {}
append_standing(reply, key, now_ms)
append_standing(reply, account, now_ms)
save_callers()
return reply
