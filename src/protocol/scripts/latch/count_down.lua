-- Counts down, no further than to zero. Then the latch is open, and those who wait are told. A request may be repeated, its id is never
-- used for another.
-- KEYS: count, channel, the request's mark   ARGV: how often, ms for which the mark is kept; nonce
-- Returns the words: nonce, 1, 1: it is open now, 1 if those who wait could be told | nonce, 2: not a count

local call, latch, channel, mark = redis.call, unpack(KEYS)
local times, kept, nonce = unpack(ARGV)
--#include count.lua

-- First, because a server without memory refuses scripts that begin with a write that grows.
-- mutant: count-down-repeated-counts-again
if call('PEXPIRE', mark, kept) == 1 then
    return nonce .. ' 1 0 1'
end
local left = call('GET', latch)
if not left then
    return nonce .. ' 1 0 1'
end
local count = count_in(left)
if not count or string.find(count, '^-') then
    return nonce .. ' 2'
end
call('SET', mark, '1', 'PX', kept)
if tonumber(count) > tonumber(times) then
    call('INCRBY', latch, '-' .. times)
    return nonce .. ' 1 0 1'
end
call('DEL', latch)
-- One that was set to zero was open before.
local told = count ~= '0' and redis.pcall('PUBLISH', channel, '0')
return nonce .. (type(told) == 'table' and ' 1 1 0' or ' 1 1 1')
