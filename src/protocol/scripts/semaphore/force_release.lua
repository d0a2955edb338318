-- Takes all permits away from whoever has them, those included that are missing. A number that was lost is restored. Those who wait are
-- told.
-- KEYS: permits, deadlines, channel, queue, heard, channel of the turns, record of the limit   ARGV: nonce
-- Returns the words: nonce, 1, 1 if those who wait could be told | nonce, 0: nobody had one | nonce, 2: not a semaphore, or not its record

local call, permits, deadlines, channel, queue, heard, turns, record = redis.call, unpack(KEYS)
local nonce = ARGV[1]

local now = call('TIME')
local ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
--#include kept_places.lua
--#include permits.lua
--#include limit.lua

local free, taken = count_free(), call('ZRANGE', deadlines, '0', '-1')
if free == nil or not read_record() then
    return nonce .. ' 2'
end
for _, permit in ipairs(taken) do
    -- Redisson wrote the digits once.
    if #permit ~= 16 and #permit ~= 32 then
        return nonce .. ' 2'
    end
end
local restored = not free and restore_number(#taken)
free = free or restored
if free then
    settle(free, #taken, 0, 0)
end
local lost = free and count_lost() or 0
if #taken == 0 and lost == 0 and not restored then
    return nonce .. ' 0'
end
call('DEL', deadlines)
if lost > 0 then
    call('INCRBY', permits, string.format('%.0f', lost))
    without = nil
end
give_back(taken)
if free then
    keep_record()
end
return nonce .. (refused and ' 1 0' or ' 1 1')
