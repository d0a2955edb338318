-- Says who has the lock.
-- KEYS: lock, token counter   ARGV: nonce
-- Returns nonce, ms to its end (-1: no end, -2: free), token or '', holder id, how often it has it | nonce, -3: not a lock
--#include is_holder.lua

local held = redis.call('HGETALL', KEYS[1])
if #held > 0 and not (#held == 2 and is_holder(held[1])) then
    return {ARGV[1], -3}
end
return {ARGV[1], redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[2]) or '', held[1] or '', held[2] or ''}
