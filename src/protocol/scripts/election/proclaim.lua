-- Stores a leader's value, if its holder has the lock and no later term began, and announces its term to the observers. A request may be
-- repeated, also when a later one of the same leader has overtaken it.
-- KEYS: lock, leader's key, which is the name of the channel, too
-- ARGV: holder id, term, number of the value within the term, ms for which the value is kept (0: for ever), value, nonce
-- Returns the words: nonce, 1, 1 if the observers could be told
--   | nonce, 0, 1 if another holder has the lock or a later term began, 0 if the lock is free | nonce, 2: the leader's key holds
--   something else

local call, lock, leader = redis.call, unpack(KEYS)
local new_holder, new_term, new_change, kept, value, nonce = unpack(ARGV)
--#include leader.lua

if call('HEXISTS', lock, new_holder) == 0 then
    return nonce .. ' 0 ' .. call('EXISTS', lock)
end
if text and not term then
    return nonce .. ' 2'
end
local stored_term, stored_change = tonumber(term or 0), tonumber(change or 0)
-- mutant: an-older-term-proclaims-after-a-later-one
if stored_term > tonumber(new_term) then
    return nonce .. ' 0 1'
end
local told = ' 1'
if stored_term < tonumber(new_term) or stored_change < tonumber(new_change) then
    -- The first write: a server without memory refuses it.
    call('SET', leader, new_term .. ' ' .. new_change .. ' ' .. new_holder .. ' ' .. value)
    told = type(redis.pcall('PUBLISH', leader, new_term)) == 'table' and ' 0' or ' 1'
end
if kept == '0' then
    call('PERSIST', leader)
else
    call('PEXPIRE', leader, kept)
end
return nonce .. ' 1' .. told
