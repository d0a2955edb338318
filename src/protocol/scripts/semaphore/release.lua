-- Gives our permits back, and no others. Those who wait are told.
-- KEYS: permits, deadlines, channel, queue, heard, channel of the turns, record of the limit, after learned leases the usual hold
-- ARGV: how many, holder id, 1: it may be in the queue, and leaves it, how many holds with learned leases have ended, their mean in µs,
--   the ids, nonce
-- Returns the words: nonce, 1, 1 if those who wait could be told | nonce, 0, 0, the same: they were not all there

local call, permits, deadlines, channel, queue, heard, turns, record = redis.call, unpack(KEYS)
local wanted, holder, leaves, holds, mean = unpack(ARGV)
local nonce = ARGV[#ARGV]
local first_id, last_id = math.max(#ARGV - wanted, 1), #ARGV - 1
local entry = wanted .. ' ' .. holder

local now = call('TIME')
local ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
--#include kept_places.lua
--#include permits.lua
--#include own_permits.lua
--#include limit.lua

-- Before the last permit is given back: where none is taken, a lowered limit looks like a lost set, and a lost number cannot be told.
local free, taken = count_free(), call('ZCARD', deadlines)
local counted = free ~= nil and read_record()
if counted and not free and taken > 0 then
    free = restore_number(taken)
end
counted = counted and free
if counted then
    settle(free, taken, 0, 0)
end
if leaves == '1' then
    drop_place(entry)
end
local all = count_own({}) == tonumber(wanted)
local dropped = drop_own()
if #dropped > 0 then
    give_back(dropped)
elseif leaves == '1' then
    -- Perhaps it was this one's turn.
    call_next(free or 0, false)
end
if counted then
    keep_record()
end
if all and KEYS[8] then
--#include usual_hold.lua
    local usual, why = usual_hold(KEYS[8])
    if not why then
        keep_usual_hold(KEYS[8], and_then(usual, holds, mean))
    end
end
return nonce .. (all and ' 1' or ' 0 0') .. (refused and ' 0' or ' 1')
