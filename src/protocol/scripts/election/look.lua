-- Says who leads, and which leaders there were since one that an observer knows.
-- KEYS: lock, history
-- ARGV: number, term and change of the last leader that the observer knows (zeros: there was none), how many it takes at most; all left out
--   if it wants the newest one only; nonce
-- Returns the words: nonce, ms to the end of the holder's lease (-1: no end, -2: free), 1 if the newest leader has the lock, its number,
--   term and change (zeros: none), 1 if leaders are missing before those that follow, how many follow, the length of each; behind the last
--   space their elements, one after the other, the oldest first
--   | nonce, -3: not a history

local call, lock, history = redis.call, unpack(KEYS)
local nonce = ARGV[#ARGV]
local seen, seen_term, seen_change, most
if ARGV[2] then
    seen, seen_term, seen_change, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
end
--#include leaders.lua

local answer = nonce .. string.format(' %.0f ', call('PTTL', lock))
local newest, number, term, change, holder = leader_at(0)
if not newest then
    return answer .. '0 0 0 0 0 0 '
end
if not number then
    return nonce .. ' -3'
end
answer = answer .. call('HEXISTS', lock, holder) .. string.format(' %.0f %.0f %.0f ', number, term, change)

local function is_news(of_term, of_change)
    return of_term and (of_term > seen_term or of_term == seen_term and of_change > seen_change)
end
local lengths, found, missed = '', {}, '0'
if not seen then
    found[1] = newest
elseif is_news(term, change) then
    local at = number - seen
    local known, its_number, its_term, its_change
    if at > 0 then
        known, its_number, its_term, its_change = leader_at(at)
    end
    if not known or its_term ~= seen_term or its_change ~= seen_change then
        -- It is not kept any more, or the server has lost it, or there was none. What is left follows.
        at = call('LLEN', history)
        repeat
            at = at - 1
            known, its_number, its_term, its_change = leader_at(at)
        until at == 0 or is_news(its_term, its_change)
        missed = seen == 0 and its_number == its_term and '0' or '1'
        at = at + 1
    end
    local size = 0
    while at > 0 and #found < most and size < 262144 do
        at = at - 1
        found[#found + 1] = call('LINDEX', history, at)
        size = size + #found[#found]
    end
end
for _, element in ipairs(found) do
    lengths = lengths .. ' ' .. #element
end
return answer .. missed .. ' ' .. #found .. lengths .. ' ' .. table.concat(found)
