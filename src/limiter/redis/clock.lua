-- Milliseconds since the epoch by this server: the one clock that all gateways share.
local function clock_ms()
  local time = call('TIME')
  return math.floor(time[1] * 1000 + time[2] / 1000)
end
