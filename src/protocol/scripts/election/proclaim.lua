-- Puts a leader's value at the head of the history, if its holder has the lock and no later term began, and tells the observers. A request
-- may be repeated, also when a later one of the same leader has overtaken it.
-- KEYS: lock, history, channel
-- ARGV: holder id, term, number of the change within the term, ms for which the history is kept (0: for ever), how many leaders are kept,
--   value, nonce
-- Returns the words: nonce, 1, number of the newest leader, 1 if the observers could be told
--   | nonce, 0, 1 if another holder has the lock or a later term began, 0 if the lock is free | nonce, 2: not a history

local call, lock, history, channel = redis.call, unpack(KEYS)
local holder, term, change, kept, most, value, nonce = unpack(ARGV)
--#include leaders.lua

if call('HEXISTS', lock, holder) == 0 then
    return nonce .. ' 0 ' .. call('EXISTS', lock)
end
local element, number, newest_term, newest_change = leader_at(0)
if element and not number then
    return nonce .. ' 2'
end
if number and newest_term > tonumber(term) then
    return nonce .. ' 0 1'
end
local told = ' 1'
if not number or newest_term < tonumber(term) or newest_change < tonumber(change) then
    local text = (number and string.format('%.0f', number + 1) or term) .. ' ' .. term .. ' ' .. change
    -- The first write: a server without memory refuses it.
    call('LPUSH', history, text .. ' ' .. holder .. ' ' .. value)
    call('LTRIM', history, 0, most - 1)
    told = type(redis.pcall('PUBLISH', channel, text)) == 'table' and ' 0' or ' 1'
    number = string.match(text, '^%d+')
else
    number = string.format('%.0f', number)
end
if kept == '0' then
    call('PERSIST', history)
else
    call('PEXPIRE', history, kept)
end
return nonce .. ' 1 ' .. number .. told
