--[[
  Releases an admission: frees its slots, and corrects the counts in its second. An admission without a lease
  was released before, or never made; nothing is changed for it. Returns 1 when its lease existed, else 0.

    lease             id of the slot
    key_at            position of the key's window in KEYS
    account_at        position of the account's window in KEYS
    second            second of the admission; false when its answer was lost and its lease was never renewed
    requests, tokens  differences to add to the counts
]]
local function settle(lease, key_at, account_at, second, requests, tokens)
  local key, account = caller_at(key_at), caller_at(account_at)
  -- A lease that was never renewed expires LEASE_MS after its admission.
  second = second or math.floor(((lease_end_ms(key, lease) or 0) - LEASE_MS) / SLOT_MS)
  local is_found = drop_lease(key, lease)
  if is_found then
    correct(key, second, requests, tokens)
    correct(account, second, requests, tokens)
  end
  drop_lease(account, lease)
  return is_found and 1 or 0
end
