-- Extends a lock that is ours; never makes one.
-- KEYS: lock   ARGV: lease in ms, holder id, nonce
-- Returns the words: nonce, 1 | nonce, 0, 1 if another holder has it, 0 if the key is gone
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    return ARGV[3] .. ' 1'
end
return ARGV[3] .. ' 0 ' .. redis.call('EXISTS', KEYS[1])
