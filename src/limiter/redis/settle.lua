--[[
  Releases admissions: frees their slots, and corrects the counts in the second of each admission. An
  admission without a lease was released before, or never made; nothing is changed for it.

  Input, for each admission:
    KEYS 1, 2    window and leases of its key
    KEYS 3, 4    window and leases of its account
    ARGV 1       lease id
    ARGV 2       second of the admission; '' when its answer was lost and its lease was never renewed
    ARGV 3, 4    differences to add to requests and to tokens

  Output, for each admission:
    1            1 when its lease existed, else 0
]]
local reply = {}
for admission = 1, #KEYS / 4 do
  local lease, second = ARGV[admission * 4 - 3], tonumber(ARGV[admission * 4 - 2])
  local requests, tokens = tonumber(ARGV[admission * 4 - 1]), tonumber(ARGV[admission * 4])
  local key, account = caller_at(admission * 4 - 3), caller_at(admission * 4 - 1)
  -- A lease that was never renewed expires LEASE_MS after its admission.
  second = second or math.floor(((lease_end_ms(key, lease) or 0) - LEASE_MS) / SLOT_MS)
  if drop_lease(key, lease) then
    correct(key, second, requests, tokens)
    correct(account, second, requests, tokens)
    reply[admission] = 1
  else
    reply[admission] = 0
  end
  drop_lease(account, lease)
end
save_callers()
return reply
