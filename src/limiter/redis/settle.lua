--[[
  Releases an admission: frees its slots, and corrects the counts in its second. An admission without a lease
  was released before, or never made; nothing is changed for it. Returns whether its lease existed.

    key, account      callers of the admission
    lease             id of the slot
    second            second of the admission; false when its answer was lost and its lease was never renewed
    requests, tokens  differences to add to the counts
]]
local function settle(key, account, lease, second, requests, tokens)
  -- A lease that was never renewed expires LEASE_MS after its admission.
  second = second or floor(((lease_end_ms(key, lease) or 0) - LEASE_MS) / SLOT_MS)
  local is_found = drop_lease(key, lease)
  if is_found then
    correct(key, second, requests, tokens)
    correct(account, second, requests, tokens)
  end
  drop_lease(account, lease)
  return is_found
end
