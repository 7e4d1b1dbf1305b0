--[[
  Renews the lease of a running request. A lost lease is restored, whatever the limits are.

    lease         id of the slot
    key_at        position of the key's window in KEYS
    account_at    position of the account's window in KEYS
]]
local function renew(lease, key_at, account_at)
  local key, account = caller_at(key_at), caller_at(account_at)
  local lease_end = lease_text(steady_ms(key, account, clock_now_ms))
  renew_lease(key, lease, lease_end)
  renew_lease(account, lease, lease_end)
end
