--[[
  Renews leases of running requests. A lost lease is restored, whatever the limits are.

  Input, for each request:
    KEYS 1, 2    window and leases of its key
    KEYS 3, 4    window and leases of its account
    ARGV 1       lease id

  Output, for each request:
    1            0
]]
local reply = {}
for request = 1, #KEYS / 4 do
  local key, account = caller_at(request * 4 - 3), caller_at(request * 4 - 1)
  local lease_end = lease_text(steady_ms(key, account, clock_now_ms))
  renew_lease(key, ARGV[request], lease_end)
  renew_lease(account, ARGV[request], lease_end)
  reply[request] = 0
end
save_callers()
return reply
