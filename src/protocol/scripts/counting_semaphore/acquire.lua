-- Takes permits if there are enough. An attempt may be repeated, its id is never used for another. One that was withdrawn takes nothing.
-- KEYS: permits, the attempt's mark   ARGV: how many, ms for which the mark is kept; nonce
-- Returns the words: nonce, 1 | nonce, 0: too few | nonce, 2: not a number

local call, permits, mark = redis.call, unpack(KEYS)
local wanted, kept, nonce = unpack(ARGV)
--#include count.lua

local done = call('GET', mark)
if done then
    if done == '1' then
        -- A replica that confirms what is written here has the permits, too.
        call('SET', mark, '1', 'PX', kept)
    end
    return nonce .. (done == '1' and ' 1' or ' 0')
end
local free = count_in(call('GET', permits))
if not free then
    return nonce .. ' 2'
end
if tonumber(free) < tonumber(wanted) then
    return nonce .. ' 0'
end
-- The first write: a server without memory refuses it.
call('SET', mark, '1', 'PX', kept)
-- Who may do this may give them back.
local left = redis.pcall('INCRBY', permits, '-' .. wanted)
if type(left) ~= 'number' then
    call('DEL', mark)
    return left
end
return nonce .. ' 1'
