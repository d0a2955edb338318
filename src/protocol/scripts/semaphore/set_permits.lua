-- Says how many permits there are, once. Permits that are out count: their number may have been lost.
-- KEYS: permits, deadlines, channel, queue, heard, channel of the turns   ARGV: how many; nonce
-- Returns the words: nonce, 1: set | nonce, 0: there were so many | nonce, 2: not a semaphore | nonce, 3: there are more, or less

local call, permits, deadlines, channel, queue, heard, turns = redis.call, unpack(KEYS)
local limit, nonce = tonumber(ARGV[1]), ARGV[2]

local free = call('GET', permits)
local taken = call('ZCARD', deadlines)
if free then
    if not string.match(free, '^%-?%d+$') then
        return nonce .. ' 2'
    end
    return nonce .. (free + taken == limit and ' 0' or ' 3')
end
call('SET', permits, string.format('%.0f', limit - taken))
local now = call('TIME')
local ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
--#include kept_places.lua
--#include permits.lua
call_next(limit - taken, true)
redis.pcall('PUBLISH', channel, ARGV[1])
return nonce .. ' 1'
