-- Says how many permits there are, once. Permits that are out count: their number may have been lost.
-- KEYS: permits, deadlines, channel, queue, heard, channel of the turns, record of the limit   ARGV: how many; nonce
-- Returns the words: nonce, 1, 1 if those who wait could be told: set | nonce, 0: there were so many | nonce, 2: not a semaphore, or not its
--   record | nonce, 3: there are more, or less

local call, permits, deadlines, channel, queue, heard, turns, record = redis.call, unpack(KEYS)
local limit, nonce = tonumber(ARGV[1]), ARGV[2]

local now = call('TIME')
local ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
--#include kept_places.lua
--#include permits.lua
--#include limit.lua

local free, taken = count_free(), call('ZCARD', deadlines)
if free == nil or not read_record() then
    return nonce .. ' 2'
end
if free then
    settle(free, taken, 0, limit)
    keep_record()
    return nonce .. (total == limit and ' 0' or ' 3')
end
local lost = count_lost()
total, longest, without = limit, longest or 0, lost > 0 and limit - lost or nil
free = free_without_number(taken, limit)
call('SET', permits, string.format('%.0f', free))
settle(free, taken, 0, limit)
keep_record()
call_next(free, true)
publish(channel, ARGV[1])
return nonce .. (refused and ' 1 0' or ' 1 1')
