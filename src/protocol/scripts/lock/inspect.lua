-- Says who has the lock.
-- KEYS: lock, token counter, with hand-over the queue   ARGV: nonce
-- Returns the words: nonce, ms to its end (-1: no end, -2: free), token (0: none), the number of clients in the queue, how often the holder
-- has it, holder id, which may have spaces | nonce, -3: not a lock
--#include is_holder.lua

local function number_in(text)
    return text and string.match(text, '^%d+$') or '0'
end

local held = redis.call('HGETALL', KEYS[1])
if #held > 0 and not (#held == 2 and is_holder(held[1])) then
    return ARGV[1] .. ' -3'
end
local remaining, token = redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[2])
local call, queue = redis.call, KEYS[3]
--#include queue.lua
local waiting = queue and count_waiting() or 0
local said = ARGV[1] .. string.format(' %.0f ', remaining) .. number_in(token) .. ' ' .. waiting
if #held == 0 then
    return said
end
return said .. ' ' .. number_in(held[2]) .. ' ' .. held[1]
