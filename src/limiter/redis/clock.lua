-- Returns milliseconds since the epoch. All gateways share the clock of this server.
local function clock_ms()
  local time = call('TIME')
  return floor(time[1] * 1000 + time[2] / 1000)
end
