-- Says who leads: the holder of the lock, once it has proclaimed its value.
-- KEYS: lock, leader's key
-- ARGV: nonce
-- Returns the words: nonce, ms to the end of the holder's lease (-1: no end, -2: free), and if somebody leads its term, the number of the
--   value within the term and the holder id; behind the last space the value
--   | nonce, -3: the leader's key holds something else

local call, lock, leader = redis.call, unpack(KEYS)
local nonce = ARGV[1]
--#include leader.lua

if text and not term then
    return nonce .. ' -3'
end
local answer = nonce .. string.format(' %.0f', call('PTTL', lock))
if not text or call('HEXISTS', lock, holder) == 0 then
    return answer
end
return answer .. ' ' .. text
