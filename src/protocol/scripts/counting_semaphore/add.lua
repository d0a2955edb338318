-- Adds to the permits, or takes from them. A request may be repeated, its id is never used for another.
-- KEYS: permits, channel, the request's mark   ARGV: how many, ms for which the mark is kept; nonce
-- Returns the words: nonce, 1, 1, 1 if those who wait could be told | nonce, 2: not a number

local call, permits, channel, mark = redis.call, unpack(KEYS)
local added, kept, nonce = unpack(ARGV)
--#include count.lua

-- First, because a server without memory refuses scripts that begin with a write that grows.
if call('PEXPIRE', mark, kept) == 1 then
    return nonce .. ' 1 1 1'
end
if not count_in(call('GET', permits)) then
    return nonce .. ' 2'
end
call('SET', mark, '1', 'PX', kept)
local free = call('INCRBY', permits, added)
-- Redisson cannot read that there are none, and nobody could take one.
local told = free > 0 and redis.pcall('PUBLISH', channel, string.format('%.0f', free))
return nonce .. (type(told) == 'table' and ' 1 1 0' or ' 1 1 1')
