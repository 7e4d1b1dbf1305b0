--[[
  The window of one caller, a key or an account. It counts the admissions of the last 60 seconds in a ring of
  61 one-second slots, as window.ts does. It is one string of 1,552 bytes, whatever the limits are, with these
  little-endian doubles:

    sums         requests, tokens             over the live slots
                 oldest, newest               range of live seconds; empty when oldest > newest
                 leavesMs                     time at which the oldest slot expires
    newest slot  requests, tokens, lastMs
    leases       running, leaseEndMs          see leases.lua
    clock        shiftMs                      account only: lead of its time over the server's clock
    61 slots     requests, tokens, lastMs     of the seconds before the newest, each at second % 61

  A slot belongs to the second of its lastMs, so slots of an earlier lap need no clearing. A slot expires as a
  whole, 60 seconds after its last admission.
]]
local call, pack, unpack_bytes = redis.call, struct.pack, struct.unpack
local floor, max = math.floor, math.max
local WINDOW_MS, SLOT_MS, SLOTS = 60000, 1000, 61
local HEAD, HEAD_BYTES = '<ddddddddddd', 88
-- Integer arguments are strings: Redis would format Lua numbers as decimal fractions.
local HEAD_END = '87'
local SLOT, SLOT_BYTES = '<ddd', 24
local WINDOW_BYTES = HEAD_BYTES + SLOTS * SLOT_BYTES
local REQUESTS, TOKENS = 1, 2
-- Time until the last slot has expired: WINDOW_MS + SLOT_MS.
local WINDOW_TTL_MS = '61000'

-- Loads a caller by the keys of its window and its leases. A table constructed with all fields costs half of
-- one that grows field by field; 16 fields fit its first allocation.
local function load_caller(key, leases_key)
  local head = call('GETRANGE', key, '0', HEAD_END)
  local is_stored = #head > 0
  if not is_stored then head = string.rep('\0', HEAD_BYTES) end
  local requests, tokens, oldest, newest, leaves_ms, slot_requests, slot_tokens, last_ms,
    running, lease_end_ms, shift_ms = unpack_bytes(HEAD, head)
  return {
    key = key, leases_key = leases_key, is_stored = is_stored, is_changed = false, new_leases = {},
    requests = requests, tokens = tokens, oldest = oldest, newest = newest, leaves_ms = leaves_ms,
    slot_requests = slot_requests, slot_tokens = slot_tokens, last_ms = last_ms,
    running = running, lease_end_ms = lease_end_ms, shift_ms = shift_ms,
  }
end

-- Writes the last byte of a new window, which fills the bytes before it with zeros.
local function make_room(window)
  if window.is_stored then return end
  call('SETRANGE', window.key, WINDOW_BYTES - 1, '\0')
  window.is_stored = true
end

local function save_window(window)
  make_room(window)
  call('SETRANGE', window.key, '0', pack(HEAD,
    window.requests, window.tokens, window.oldest, window.newest, window.leaves_ms,
    window.slot_requests, window.slot_tokens, window.last_ms,
    window.running, window.lease_end_ms, window.shift_ms))
  if window.is_fresh then call('PEXPIRE', window.key, WINDOW_TTL_MS) end
end

local function slot_offset(second)
  return HEAD_BYTES + second % SLOTS * SLOT_BYTES
end

-- Returns requests, tokens and time of the last admission of a live second; zeros without an admission.
local function read_slot(window, second)
  if second == window.newest then return window.slot_requests, window.slot_tokens, window.last_ms end
  if not window.is_stored then return 0, 0, 0 end
  local at, bytes = slot_offset(second), window.bytes
  if not bytes then at, bytes = 0, call('GETRANGE', window.key, at, at + SLOT_BYTES - 1) end
  local requests, tokens, last_ms = unpack_bytes(SLOT, bytes, at + 1)
  if floor(last_ms / SLOT_MS) ~= second then return 0, 0, 0 end
  return requests, tokens, last_ms
end

-- Reads the whole ring with one command, before slots are read one after another.
local function read_ring(window)
  if window.is_stored and not window.bytes then window.bytes = call('GET', window.key) end
end

local function write_slot(window, second, requests, tokens, last_ms)
  if second == window.newest then
    window.slot_requests, window.slot_tokens, window.last_ms = requests, tokens, last_ms
    return
  end
  make_room(window)
  call('SETRANGE', window.key, slot_offset(second), pack(SLOT, requests, tokens, last_ms))
  window.bytes = nil
end

-- Drops expired slots: usually none, at most 61.
local function advance(window, now_ms)
  if now_ms < window.leaves_ms then return end
  if window.oldest < window.newest then read_ring(window) end
  while window.oldest <= window.newest do
    local requests, tokens, last_ms = read_slot(window, window.oldest)
    window.leaves_ms = last_ms + WINDOW_MS
    if requests > 0 and now_ms < window.leaves_ms then return end
    window.requests = window.requests - requests
    window.tokens = window.tokens - tokens
    window.oldest = window.oldest + 1
  end
  -- Sums above 2^53 are inexact: an empty window must not keep a rounding error.
  window.requests, window.tokens = 0, 0
  -- A slot without requests is dropped before it expires; latest_ms continues from this time.
  window.leaves_ms = math.min(window.leaves_ms, now_ms)
end

-- Extends the range of live seconds to a second of the last minute.
local function reach(window, second)
  if window.oldest > window.newest then
    window.oldest = second
  elseif second > window.newest then
    local newest = window.newest
    window.newest = second
    write_slot(window, newest, window.slot_requests, window.slot_tokens, window.last_ms)
  else
    -- Clears dropped seconds that become live again.
    for left = second, window.oldest - 1 do write_slot(window, left, 0, 0, 0) end
    window.oldest = math.min(window.oldest, second)
    return
  end
  window.newest, window.slot_requests, window.slot_tokens, window.last_ms = second, 0, 0, 0
  window.is_fresh = true
end

-- Counts admissions of one second of the last minute; `last_ms` is the time of the last one.
local function add(window, last_ms, requests, tokens)
  local second = floor(last_ms / SLOT_MS)
  reach(window, second)
  local slot_requests, slot_tokens, slot_last_ms = read_slot(window, second)
  slot_last_ms = max(slot_last_ms, last_ms)
  write_slot(window, second, slot_requests + requests, slot_tokens + tokens, slot_last_ms)
  if second == window.oldest then window.leaves_ms = slot_last_ms + WINDOW_MS end
  window.requests = window.requests + requests
  window.tokens = window.tokens + tokens
  window.is_changed = true
end

-- Counts a request admitted now. No counted admission may be later.
local function add_now(window, now_ms, tokens)
  local second = floor(now_ms / SLOT_MS)
  if second > window.newest or window.oldest > window.newest then reach(window, second) end
  window.slot_requests, window.slot_tokens = window.slot_requests + 1, window.slot_tokens + tokens
  window.last_ms = now_ms
  if second == window.oldest then window.leaves_ms = now_ms + WINDOW_MS end
  window.requests, window.tokens = window.requests + 1, window.tokens + tokens
  window.is_changed = true
end

--[[
  Adds a correction to the second of an earlier admission. Does nothing when its slot has expired. Clamps at
  zero: after a loss of data, the remaining counts may belong to other requests.
]]
local function correct(window, second, requests, tokens)
  if second < window.oldest or second > window.newest then return end
  if second == window.newest then
    requests, tokens = max(requests, -window.slot_requests), max(tokens, -window.slot_tokens)
    window.slot_requests, window.slot_tokens = window.slot_requests + requests, window.slot_tokens + tokens
  else
    local slot_requests, slot_tokens, last_ms = read_slot(window, second)
    requests, tokens = max(requests, -slot_requests), max(tokens, -slot_tokens)
    write_slot(window, second, slot_requests + requests, slot_tokens + tokens, last_ms)
  end
  window.requests = window.requests + requests
  window.tokens = window.tokens + tokens
  window.is_changed = true
end

-- Returns the latest time of a window: its last admission, or the expiry of its last slot when it is empty.
-- Without the latter, a second could repeat, and a late correction would reduce the counts of another
-- request.
local function latest_ms(window)
  if window.oldest <= window.newest then return window.last_ms end
  return max(window.last_ms, window.leaves_ms)
end

-- Lets a window that the clock was set back for expire by the new time, and its leases be counted again.
local function follow_clock(window)
  window.is_changed, window.is_fresh, window.lease_end_ms = true, true, 0
end

--[[
  Returns the time for a key and its account. It never decreases: a backward step of the clock counts as zero
  elapsed time, and time continues from there. No second repeats, no admission expires early, and none waits
  for the old time to come again. A key that outlived its account would: its time would stand still.
]]
local function steady_ms(key, account, clock_now_ms)
  local now_ms = clock_now_ms + account.shift_ms
  local last_ms = max(latest_ms(key), latest_ms(account))
  if now_ms >= last_ms then return now_ms end
  account.shift_ms = account.shift_ms + last_ms - now_ms
  follow_clock(account)
  if key.is_stored then follow_clock(key) end
  return last_ms
end

--[[
  Returns the milliseconds until `excess` units have expired, up to 60,000. Returns 60,000 when even an empty
  window would not suffice. `of` is REQUESTS or TOKENS.
]]
local function wait_ms(window, now_ms, of, excess)
  if excess <= 0 then return 0 end
  read_ring(window)
  for second = window.oldest, window.newest do
    local requests, tokens, last_ms = read_slot(window, second)
    excess = excess - (of == REQUESTS and requests or tokens)
    if excess <= 0 then return last_ms + WINDOW_MS - now_ms end
  end
  return WINDOW_MS
end

-- Returns the milliseconds until the window counts none of a quantity, up to 60,000.
local function reset_ms(window, now_ms, of)
  if window.oldest > window.newest then return 0 end
  if (of == REQUESTS and window.slot_requests or window.slot_tokens) > 0 then
    return window.last_ms + WINDOW_MS - now_ms
  end
  read_ring(window)
  for second = window.newest - 1, window.oldest, -1 do
    local requests, tokens, last_ms = read_slot(window, second)
    if (of == REQUESTS and requests or tokens) > 0 then return last_ms + WINDOW_MS - now_ms end
  end
  return 0
end
