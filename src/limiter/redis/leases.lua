--[[
  Running requests of a caller: a sorted set of lease ids, scored by the time in ms at which each expires. A
  lease without renewal expires by itself. The caller's window stores the number of leases, and a time before
  which none expires.
]]
local LEASE_MS = 30000
-- LEASE_MS + SLOT_MS: the set outlives leases that are added in the second of its latest PEXPIRE.
local LEASES_TTL_MS = '31000'

local function lease_text(now_ms)
  return string.format('%d', now_ms + LEASE_MS)
end

local function lease_end_ms(caller, lease)
  return tonumber(call('ZSCORE', caller.leases_key, lease) or nil)
end

-- Drops expired leases, shortens those that a clock set back made too long, and counts the rest.
local function end_leases(caller, now_ms)
  local key, longest = caller.leases_key, lease_text(now_ms)
  call('ZREMRANGEBYSCORE', key, '-inf', string.format('%d', now_ms))
  for _, lease in ipairs(call('ZRANGEBYSCORE', key, '(' .. longest, '+inf')) do
    call('ZADD', key, longest, lease)
  end
  local first = call('ZRANGE', key, '0', '0', 'WITHSCORES')
  caller.lease_end_ms = tonumber(first[2] or longest)
  caller.running = call('ZCARD', key)
  caller.is_changed = caller.is_changed or caller.is_stored
end

local function put_lease(caller, lease, lease_end)
  local new = caller.new_leases
  new[#new + 1] = lease_end
  new[#new + 1] = lease
end

local function add_lease(caller, lease, lease_end)
  put_lease(caller, lease, lease_end)
  caller.running = caller.running + 1
end

local function renew_lease(caller, lease, lease_end)
  put_lease(caller, lease, lease_end)
  caller.is_renewed = true
end

-- Returns whether the lease existed.
local function drop_lease(caller, lease)
  if call('ZREM', caller.leases_key, lease) == 0 then return false end
  caller.running = max(caller.running - 1, 0)
  caller.is_changed = caller.is_changed or caller.is_stored
  return true
end

-- Writes the leases put since the last call, and counts those that a renewal restored.
local function save_leases(caller)
  local new = caller.new_leases
  if #new == 0 then return end
  local added = call('ZADD', caller.leases_key, unpack(new))
  -- A set with only new leases did not exist before and has no expiry yet.
  if caller.is_fresh or caller.is_renewed or #new == 2 * caller.running then
    call('PEXPIRE', caller.leases_key, LEASES_TTL_MS)
  end
  if not caller.is_renewed then return end
  caller.new_leases, caller.is_renewed = {}, false
  if added == 0 then return end
  caller.running = call('ZCARD', caller.leases_key)
  caller.is_changed = caller.is_changed or caller.is_stored
end
