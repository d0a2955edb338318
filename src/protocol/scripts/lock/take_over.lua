-- Takes over a lock that has no expiry, and is as it was seen before. One that has an expiry, or another holder, is left alone.
-- KEYS: lock, token counter, with hand-over the queue
-- ARGV: lease in ms, holder id, lifetime of the token counter in ms (0: for ever), number of tokens, our entry in the queue, to be
--   removed (or nothing), the holder that was seen, how often it had the lock, nonce
-- Returns the words: nonce, 1, token | nonce, 0, 0: it is not as it was | nonce, 2: not a token counter

local call, lock, counter, queue = redis.call, KEYS[1], KEYS[2], KEYS[3]
local lease, holder, counter_ttl, count, entry, orphan, holds, nonce = unpack(ARGV)

local held = call('HGETALL', lock)
-- mutant: taken-over-though-it-has-an-expiry
if #held ~= 2 or held[1] ~= orphan or held[2] ~= holds or call('PTTL', lock) ~= -1 then
    return nonce .. ' 0 0'
end
-- The first write: a server without memory refuses it.
local time
--#include take_tokens.lua
if not token then
    return nonce .. ' 2'
end
-- The expiry first: nothing has changed if it is refused.
call('PEXPIRE', lock, lease)
call('HSET', lock, holder, '1')
call('HDEL', lock, orphan)
if queue and entry ~= '' then
    call('ZREM', queue, entry)
end
return nonce .. ' 1 ' .. token
