-- Says who has the lock.
-- KEYS: lock, token counter   ARGV: nonce
-- Returns the words: nonce, ms to its end (-1: no end, -2: free), token (0: none), how often the holder has it, holder id, which may have
-- spaces | nonce, -3: not a lock
--#include is_holder.lua

local function number_in(text)
    return text and string.match(text, '^%d+$') or '0'
end

local held = redis.call('HGETALL', KEYS[1])
if #held > 0 and not (#held == 2 and is_holder(held[1])) then
    return ARGV[1] .. ' -3'
end
local remaining, token = redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[2])
local said = ARGV[1] .. string.format(' %.0f ', remaining) .. number_in(token)
if #held == 0 then
    return said
end
return said .. ' ' .. number_in(held[2]) .. ' ' .. held[1]
