-- Who has the lock, and how many are in the queue.
--#include is_holder.lua

local function number_in(text)
    return text and string.match(text, '^%d+$') or '0'
end

local held = call('HGETALL', KEYS[1])
if #held > 0 and not (#held == 2 and is_holder(held[1])) then
    return ARGV[1] .. ' -3'
end
local remaining, token = call('PTTL', KEYS[1]), call('GET', KEYS[2])
local said = ARGV[1] .. string.format(' %.0f ', remaining) .. number_in(token) .. ' ' .. count_queued()
if #held == 0 then
    return said
end
return said .. ' ' .. number_in(held[2]) .. ' ' .. held[1]
