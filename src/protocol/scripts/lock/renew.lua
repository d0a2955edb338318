-- Extends a lock that is ours; never makes one, and never makes its life shorter unless that has no end. Takes tokens for the next holders of
-- its client.
-- KEYS: lock, for tokens the token counter and the queue, with them for a learned lease the usual hold
-- ARGV, each in its place:
--   1 lease in ms (0: it keeps its end)
--   2 holder id
--   3 number of tokens (0: none)
--   4 lifetime of the token counter in ms (0: for ever)
--   5 how many holds with learned leases have ended
--   6 their mean in µs
--   7 for a learned lease the shortest one in ms (else 0)
--   8 how many usual holds it covers
--   9 nonce
-- Returns the words: nonce, 1, for tokens the first one (0: none), the number of clients in the queue, and of those that do not queue (0 while
--   they use none of their turns), for a learned lease the lease in ms and the usual hold in µs (0: not known)
--   No token: the key is not a counter. If the user may not use it or the queue, or the queue is something else, all three are 0.
--   | nonce, 0, 1 if another holder has it, 0 if the key is gone

local call, lock, counter, queue = redis.call, KEYS[1], KEYS[2], KEYS[3]
local lease, holder, count, counter_ttl, holds, mean, shortest, times, nonce = unpack(ARGV)

-- mutant: renewal-makes-the-key
if call('HEXISTS', lock, holder) == 0 then
    return nonce .. ' 0 ' .. call('EXISTS', lock)
end
local learned = ''
if KEYS[4] then
--#include usual_hold.lua
    local usual, why = usual_hold(KEYS[4])
    usual = and_then(usual, holds, mean)
    if usual and lease ~= '0' then
        lease = covering(usual, times, shortest, lease)
    end
    if holds ~= '0' and not why then
        keep_usual_hold(KEYS[4], usual)
    end
    learned = ' ' .. lease .. string.format(' %.0f', usual or 0)
end
-- mutant: renewal-shortens
if lease ~= '0' and call('PTTL', lock) < tonumber(lease) then
    call('PEXPIRE', lock, lease)
end
if not counter then
    return nonce .. ' 1'
end
-- The lock is ours. Something else under the keys of the counter and the queue, or a right that the user lacks, must not say otherwise.
-- mutant: foreign-counter-ends-a-lease
local said, tokens = pcall(function()
    local time
--#include queue.lua
--#include take_tokens.lua
    local waiting = count_waiting()
    local others = count_others(waiting)
    local turn = others > 0 and call('ZSCORE', queue, 'turn')
    if turn and unused_turns(turn) > 2 then
        -- They only listen. They have a turn now and then, in case one waits.
        if not time then
            local now = call('TIME')
            time = now[1] * 1000000 + now[2]
        end
        local left = turn_time(turn) - time
        others = (left <= 0 or left > longest_pause(others) * math.max(waiting, 1)) and others or 0
    end
    return (token or '0') .. ' ' .. waiting .. ' ' .. others
end)
return nonce .. ' 1 ' .. (said and tokens or '0 0 0') .. learned
