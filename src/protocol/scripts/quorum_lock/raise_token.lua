-- Raises the token counter of a node to a token that another node of the quorum has given, while the lock is ours there. A counter that
-- has reached it stays as it is.
-- KEYS: lock, token counter   ARGV: holder id, lifetime of the token counter in ms (0: for ever), token, nonce
-- Returns the words: nonce, 1 | nonce, 0: it is not ours | nonce, 2: not a counter

local call, lock, counter = redis.call, KEYS[1], KEYS[2]
local holder, counter_ttl, token, nonce = unpack(ARGV)
--#include last_token.lua

if call('HEXISTS', lock, holder) == 0 then
    return nonce .. ' 0'
end
local last, kept = last_token()
if not last then
    return nonce .. ' 2'
end
if last < tonumber(token) then
    keep_token(tonumber(token), kept)
end
return nonce .. ' 1'
