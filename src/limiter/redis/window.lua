--[[
  What one caller, a key or an account, was admitted for in the last 60 seconds: a ring of 61 one-second
  slots, as in window.ts, in one string of 1,552 bytes whatever the limits are. Little-endian doubles:

    sums         requests, tokens             over the live slots
                 oldest, newest               seconds; the live slots are among them, none when oldest > newest
                 leavesMs                     the slot of the oldest second stays until then
    newest slot  requests, tokens, lastMs
    leases       running, leaseEndMs          of leases.lua
    clock        shiftMs                      of an account: by how much its time is ahead of the clock
    61 slots     requests, tokens, lastMs     of the seconds before the newest, each at second % 61

  A slot belongs to the second of its lastMs, so what an earlier lap left there needs no wiping. It leaves as
  a whole 60 seconds after its last admission.
]]
local call, pack, unpack_bytes = redis.call, struct.pack, struct.unpack
local WINDOW_MS, SLOT_MS, SLOTS = 60000, 1000, 61
local HEAD, HEAD_BYTES = '<ddddddddddd', 88
-- Numbers as text where Redis wants them so: it would print each as a decimal fraction.
local HEAD_END = '87'
local SLOT, SLOT_BYTES = '<ddd', 24
local WINDOW_BYTES = HEAD_BYTES + SLOTS * SLOT_BYTES
local REQUESTS, TOKENS = 1, 2
-- Until the last slot has left: WINDOW_MS + SLOT_MS.
local WINDOW_TTL_MS = '61000'

-- A caller with the keys of its window and of its leases. A table that is made with all its fields costs half
-- of one that grows with each, and 16 are what fits.
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

-- Writes the last byte of a new window: everything before it is zeros then.
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

-- Requests, tokens and last admission of a live second; zeros when there was none in it.
local function read_slot(window, second)
  if second == window.newest then return window.slot_requests, window.slot_tokens, window.last_ms end
  if not window.is_stored then return 0, 0, 0 end
  local at, bytes = slot_offset(second), window.bytes
  if not bytes then at, bytes = 0, call('GETRANGE', window.key, at, at + SLOT_BYTES - 1) end
  local requests, tokens, last_ms = unpack_bytes(SLOT, bytes, at + 1)
  if math.floor(last_ms / SLOT_MS) ~= second then return 0, 0, 0 end
  return requests, tokens, last_ms
end

-- For whoever is going to read one slot after another.
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

-- Lets the slots go whose time is over: mostly none, and at most 61.
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
  -- Past 2^53 sums are not exact: what rounding left in them must not stay.
  window.requests, window.tokens = 0, 0
  -- A slot without requests leaves before its time, and time goes on from here: see latest_ms.
  window.leaves_ms = math.min(window.leaves_ms, now_ms)
end

-- Makes a second of the last minute the newest or the oldest, if it is neither nor between them.
local function reach(window, second)
  if window.oldest > window.newest then
    window.oldest = second
  elseif second > window.newest then
    local newest = window.newest
    window.newest = second
    write_slot(window, newest, window.slot_requests, window.slot_tokens, window.last_ms)
  else
    -- What left from there must not come back.
    for left = second, window.oldest - 1 do write_slot(window, left, 0, 0, 0) end
    window.oldest = math.min(window.oldest, second)
    return
  end
  window.newest, window.slot_requests, window.slot_tokens, window.last_ms = second, 0, 0, 0
  window.is_fresh = true
end

-- Counts what was admitted in one second of the last minute, at `last_ms` at the latest.
local function add(window, last_ms, requests, tokens)
  local second = math.floor(last_ms / SLOT_MS)
  reach(window, second)
  local slot_requests, slot_tokens, slot_last_ms = read_slot(window, second)
  slot_last_ms = math.max(slot_last_ms, last_ms)
  write_slot(window, second, slot_requests + requests, slot_tokens + tokens, slot_last_ms)
  if second == window.oldest then window.leaves_ms = slot_last_ms + WINDOW_MS end
  window.requests = window.requests + requests
  window.tokens = window.tokens + tokens
  window.is_changed = true
end

-- Counts a request that is admitted now: nothing was admitted later.
local function add_now(window, now_ms, tokens)
  local second = math.floor(now_ms / SLOT_MS)
  if second > window.newest or window.oldest > window.newest then reach(window, second) end
  window.slot_requests, window.slot_tokens = window.slot_requests + 1, window.slot_tokens + tokens
  window.last_ms = now_ms
  if second == window.oldest then window.leaves_ms = now_ms + WINDOW_MS end
  window.requests, window.tokens = window.requests + 1, window.tokens + tokens
  window.is_changed = true
end

--[[
  Changes what an earlier admission counts for; nothing when its slot has left. Below zero it never goes:
  what it would take away may be lost, and what is there may be of others.
]]
local function correct(window, second, requests, tokens)
  if second < window.oldest or second > window.newest then return end
  local slot_requests, slot_tokens, last_ms = read_slot(window, second)
  requests = math.max(requests, -slot_requests)
  tokens = math.max(tokens, -slot_tokens)
  write_slot(window, second, slot_requests + requests, slot_tokens + tokens, last_ms)
  window.requests = window.requests + requests
  window.tokens = window.tokens + tokens
  window.is_changed = true
end

-- The latest time that a window knows of: its last admission, or, when it is empty, when its last slot left. Else the
-- second of that slot could come again, and a correction of what left would take from what is there.
local function latest_ms(window)
  if window.oldest <= window.newest then return window.last_ms end
  return math.max(window.last_ms, window.leaves_ms)
end

--[[
  The time that a key and its account go by. It never goes back: a clock that was set back counts as no time
  passed, and time goes on from there. So no second comes twice, nothing leaves early, and nothing waits for a
  wrong hour to come again.
]]
local function steady_ms(key, account, clock_now_ms)
  local now_ms = clock_now_ms + account.shift_ms
  local last_ms = math.max(latest_ms(key), latest_ms(account))
  if now_ms >= last_ms then return now_ms end
  account.shift_ms = account.shift_ms + last_ms - now_ms
  account.is_changed = account.is_changed or account.is_stored
  return last_ms
end

--[[
  Milliseconds until `excess` of what is counted has left, up to 60,000: a whole window when even an empty
  one would not do. `of` is REQUESTS or TOKENS.
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

-- Milliseconds until nothing of it is counted any more, up to 60,000.
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
