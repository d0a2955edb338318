-- Says who has the lock.
-- KEYS: lock, token counter   ARGV: nonce
-- Returns nonce, ms to its end (-1: no end, -2: free), token or '', then field, value, …
local found = {ARGV[1], redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[2]) or ''}
for _, part in ipairs(redis.call('HGETALL', KEYS[1])) do
    found[#found + 1] = part
end
return found
