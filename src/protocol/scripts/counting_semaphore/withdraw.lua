-- Gives back what an attempt has taken. If it comes later, it takes nothing.
-- KEYS: permits, channel, the attempt's mark   ARGV: how many, ms for which the mark is kept; nonce
-- Returns the words: nonce, 1, 1 if those who wait could be told | nonce, 0, 0: nothing was taken

local call, permits, channel, mark = redis.call, unpack(KEYS)
local taken, kept, nonce = unpack(ARGV)

local done = call('GET', mark)
-- First, because a server without memory refuses scripts that begin with a write that grows.
call('PEXPIRE', mark, kept)
-- mutant: withdrawal-leaves-no-mark
call('SET', mark, '0', 'PX', kept)
if done ~= '1' or call('EXISTS', permits) == 0 then
    return nonce .. ' 0 0'
end
local free = call('INCRBY', permits, taken)
local told = free > 0 and redis.pcall('PUBLISH', channel, string.format('%.0f', free))
return nonce .. (type(told) == 'table' and ' 1 0' or ' 1 1')
