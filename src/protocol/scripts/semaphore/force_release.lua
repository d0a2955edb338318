-- Takes all permits away from whoever has them. Those who wait are told.
-- KEYS: permits, deadlines, channel, queue, heard, channel of the turns   ARGV: nonce
-- Returns the words: nonce, 1, 1 if those who wait could be told | nonce, 0: nobody had one | nonce, 2: not a semaphore

local call, permits, deadlines, channel, queue, heard, turns = redis.call, unpack(KEYS)
local nonce = ARGV[1]

local now = call('TIME')
local ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
--#include kept_places.lua
--#include permits.lua

local taken = call('ZRANGE', deadlines, '0', '-1')
if count_free() == nil then
    return nonce .. ' 2'
end
for _, permit in ipairs(taken) do
    -- Redisson wrote the digits once.
    if #permit ~= 16 and #permit ~= 32 then
        return nonce .. ' 2'
    end
end
if #taken == 0 then
    return nonce .. ' 0'
end
call('DEL', deadlines)
local told = select(2, give_back(taken))
return nonce .. (type(told) == 'number' and ' 1 1' or ' 1 0')
