-- Says how many permits there are, and writes nothing.
-- KEYS: permits, deadlines, queue, heard, record of the limit   ARGV: nonce
-- Returns the words: nonce, 1 (0: nobody has said how many there are), how many are free, how many are taken, how many wait, how many there
--   are | nonce, 2: not a semaphore, or not its record

local call, permits, deadlines, queue, heard, record = redis.call, unpack(KEYS)
local nonce = ARGV[1]
local kept = call('GET', permits)
if kept and not string.match(kept, '^%-?%d+$') then
    return nonce .. ' 2'
end
local now = call('TIME')
local ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
--#include limit.lua
if not read_record() then
    return nonce .. ' 2'
end
local taken = call('ZCARD', deadlines)
if kept then
    settle(tonumber(kept), taken, 0, 0)
end
-- They come back as soon as somebody asks for one.
local till = string.format('%.0f', ms)
local over = call('ZCOUNT', deadlines, '0', till)
local free = kept and kept + over + (without and ms >= lost_until and count_lost() or 0) or 0
return nonce .. (kept and ' 1' or ' 0') .. string.format(
    ' %.0f %.0f %.0f %.0f',
    free,
    taken - over,
    math.min(call('ZCARD', queue), call('ZCOUNT', heard, string.format('%.0f', ms + 1), '+inf')),
    kept and total or 0
)
