-- Frees the lock if it is had on one side: `r` by readers, `w` by a writer, with what its owner has as a reader. Something else is left alone.
-- KEYS: lock, channel   ARGV: side; nonce
-- Returns the words: nonce, 1, 1 if those that wait could be told | nonce, 0: was free | nonce, 2: not a read/write lock

local call, lock, channel = redis.call, unpack(KEYS)
local side, nonce = unpack(ARGV)
local tag = string.sub(channel, 17)
--#include rw_state.lua

if not look() then
    return nonce .. ' 2'
end
if side == 'w' and not writer or side == 'r' and (writer or #readers == 0) then
    return nonce .. ' 0'
end
call('DEL', lock)
-- It is free by now, whether the user may publish or not.
local told = redis.pcall('PUBLISH', channel, side == 'w' and '1' or '0')
return nonce .. (type(told) == 'table' and ' 1 0' or ' 1 1')
