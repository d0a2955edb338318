-- Removes our field and nothing else; a lock of somebody else's is left alone. The key goes with its last field.
-- KEYS: lock, channel   ARGV: holder id, nonce
-- Returns the words: nonce, 1, 1 if the waiters could be told | nonce, 0, 1 if another holder has it, 0 if the key is gone
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
    return ARGV[2] .. ' 0 ' .. redis.call('EXISTS', KEYS[1])
end
-- The lock is free by now; a user who may not publish must not be told otherwise.
local told = redis.pcall('PUBLISH', KEYS[2], '0')
if type(told) == 'table' then
    return ARGV[2] .. ' 1 0'
end
return ARGV[2] .. ' 1 1'
