--[[
  Renews the lease of a running request. A lost lease is restored, whatever the limits are.

    key, account  callers of the request
    lease         id of the slot
]]
local function renew(key, account, lease)
  local lease_end = lease_text(steady_ms(key, account, clock_now_ms))
  renew_lease(key, lease, lease_end)
  renew_lease(account, lease, lease_end)
end
