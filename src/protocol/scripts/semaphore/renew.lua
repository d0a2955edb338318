-- Extends permits that are ours; never makes one, and never makes its life shorter. If one of them is missing, the others are given
-- back.
-- KEYS: permits, deadlines, channel, queue, heard, channel of the turns, record of the limit   ARGV: lease in ms, how many; the ids; nonce
-- Returns the words: nonce, 1 | nonce, 0, 0, 1 if those who wait could be told: they were not all there

local call, permits, deadlines, channel, queue, heard, turns, record = redis.call, unpack(KEYS)
local lease, wanted = unpack(ARGV)
local nonce = ARGV[#ARGV]
local first_id, last_id = math.max(#ARGV - wanted, 1), #ARGV - 1

local now = call('TIME')
local ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
--#include kept_places.lua
--#include permits.lua
--#include own_permits.lua
--#include limit.lua
--#include longest_lease.lua

local ends = {}
if count_own(ends) < tonumber(wanted) then
    -- The set may have been lost: the sooner that is seen, the sooner its permits are free again.
    local free = count_free()
    local counted = free and read_record()
    if counted then
        settle(free, call('ZCARD', deadlines), tonumber(lease), 0)
    end
    local dropped = drop_own()
    if #dropped > 0 then
        give_back(dropped)
    end
    if counted then
        keep_record()
    end
    return nonce .. ' 0 0' .. (refused and ' 0' or ' 1')
end
-- First, because a server without memory refuses scripts that begin with a write that grows. No permit has this name.
call('ZREM', deadlines, '')
raise_own(ends, ms + lease)
raise_longest(record, tonumber(lease))
return nonce .. ' 1'
