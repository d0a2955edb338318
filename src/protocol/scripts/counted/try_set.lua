-- Sets the number under a name if there is none. A request may be repeated, its id is never used for another.
-- KEYS: number, channel, the request's mark   ARGV: number, what those who wait are told, ms for which the mark is kept; nonce
-- Returns the words: nonce, 1, 1: it was set, 0: there was one, 1 if those who wait could be told | nonce, 2: not a number

local call, number, channel, mark = redis.call, unpack(KEYS)
local count, message, kept, nonce = unpack(ARGV)
--#include count.lua

if call('GET', mark) then
    return nonce .. ' 1 1 1'
end
local old = call('GET', number)
if old then
    return nonce .. (count_in(old) and ' 1 0 1' or ' 2')
end
call('SET', mark, '1', 'PX', kept)
call('SET', number, count)
local told = redis.pcall('PUBLISH', channel, message)
return nonce .. (type(told) == 'table' and ' 1 1 0' or ' 1 1 1')
