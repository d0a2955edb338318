-- Extends a hold of ours; never makes one, and never makes its life shorter. The lock lives at least as long: Redisson's watchdog may have made its life
-- shorter for a reader of its own.
-- KEYS: lock, the key of our hold   ARGV: lease in ms (0: it keeps its end), holder id; nonce
-- Returns the words: nonce, 1 | nonce, 0, 1 if others have the lock, 0 if the key is gone, or the hold had ended

local call, lock, hold = redis.call, unpack(KEYS)
local lease, holder, nonce = unpack(ARGV)

if call('HEXISTS', lock, holder) == 0 then
    return nonce .. ' 0 ' .. call('EXISTS', lock)
end
local left = call('PTTL', hold)
if left == -2 then
    return nonce .. ' 0 0'
end
if left < tonumber(lease) then
    call('PEXPIRE', hold, lease)
    left = tonumber(lease)
end
local life = call('PTTL', lock)
if life ~= -1 and life < left then
    call('PEXPIRE', lock, string.format('%.0f', left))
end
return nonce .. ' 1'
