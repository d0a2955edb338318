-- Takes all permits that there are; debts are forgotten. A request may be repeated, its id is never used for another.
-- KEYS: permits, the request's mark   ARGV: ms for which the mark is kept; nonce
-- Returns the words: nonce, 1, how many there were | nonce, 2: not a number

local call, permits, mark = redis.call, unpack(KEYS)
local kept, nonce = unpack(ARGV)
--#include count.lua

local done = call('GET', mark)
if done then
    return nonce .. ' 1 ' .. done
end
local free = count_in(call('GET', permits))
if not free then
    return nonce .. ' 2'
end
if free ~= '0' then
    -- First, because a server without memory refuses scripts that begin with a write that grows.
    call('PEXPIRE', mark, kept)
    call('SET', mark, free, 'PX', kept)
    -- It keeps an expiry.
    call('INCRBY', permits, string.find(free, '^-') and string.sub(free, 2) or '-' .. free)
end
return nonce .. ' 1 ' .. free
