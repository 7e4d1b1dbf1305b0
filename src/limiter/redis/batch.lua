--[[
  Executes a batch: the settlements, renewals and admissions of one event-loop turn of one gateway, each in
  order. Settlements are first, because they free slots for the admissions.

  Input:
    KEYS         window and leases of each key and each account of the batch, each caller once
    ARGV 1       JSON of three flat arrays: settlements, renewals and admissions. Each begins with a lease id
                 and with the positions of its key's and its account's windows in KEYS. The files settle.lua,
                 renew.lua and admit.lua list the values of each, in the order of their parameters.

  Output:
    1 number for each settlement, as `settle` returns it; then 11 numbers for each admission, as `admit`
    appends them
]]
local settlements, renewals, admissions = unpack(cjson.decode(ARGV[1]))
local reply = {}
for at = 1, #settlements, 6 do reply[#reply + 1] = settle(unpack(settlements, at, at + 5)) end
for at = 1, #renewals, 3 do renew(unpack(renewals, at, at + 2)) end
-- A lease that a renewal restores takes a slot from the admissions that follow.
if #renewals > 0 then save_all_leases() end
for at = 1, #admissions, 10 do admit(reply, unpack(admissions, at, at + 9)) end
save_callers()
return reply
