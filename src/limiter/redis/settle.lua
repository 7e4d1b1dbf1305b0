--[[
  Ends admissions: gives their slots back, and changes what each counts for in the second of its admission.
  Without its lease an admission was ended before, or never taken, and nothing is changed.

  Input, of each admission:
    KEYS 1, 2    window and leases of its key
    KEYS 3, 4    window and leases of its account
    ARGV 1       lease id
    ARGV 2       second of the admission; '' when its answer never came, and its lease was never renewed
    ARGV 3, 4    change of requests and of tokens

  Output, of each admission:
    1            1 when its lease was still there, else 0
]]
local reply = {}
for admission = 1, #KEYS / 4 do
  local lease, second = ARGV[admission * 4 - 3], tonumber(ARGV[admission * 4 - 2])
  local requests, tokens = tonumber(ARGV[admission * 4 - 1]), tonumber(ARGV[admission * 4])
  local key, account = caller_at(admission * 4 - 3), caller_at(admission * 4 - 1)
  -- A lease that was never renewed ends as long after its admission as it lasts.
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
