-- Grants the lock if it is free, or is ours already: an attempt may be repeated, its holder id is never used twice.
-- KEYS: lock, token counter, for a preflight the channel   ARGV: lease in ms, holder id, lifetime of the token counter in ms (0: for ever), nonce
-- Returns the words: nonce, 1, token | nonce, 0, ms to the end of the holder's lease (-1: no end) | nonce, 2: not a lock, or not its counter

local call, lock, counter, lease, holder, nonce = redis.call, KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[4]

local remaining = call('PTTL', lock)
if remaining ~= -2 then
--#include is_holder.lua
    local ours = false
    for _, field in ipairs(call('HKEYS', lock)) do
        if field == holder then
            ours = true
        elseif not is_holder(field) then
            return nonce .. ' 2'
        end
    end
    if not ours then
        return nonce .. string.format(' 0 %.0f', remaining)
    end
elseif KEYS[3] then
    -- A user without a right fails here, before the first write. None of these does anything to a key that is not there. SET
    -- goes first: a server without memory refuses it.
    call('SET', lock, '', 'XX')
    call('PEXPIRE', lock, lease)
    call('HDEL', lock, holder)
end

-- The token is the server's time in microseconds, or one more than the last token if that was not smaller: tokens grow also
-- after the counter was lost, expired, or was started anew by another client. Both stay text where they can: to turn text
-- into numbers and back takes longer than all the rest, and digits of one length compare as their numbers do. The write of
-- the counter is the first one: a server without memory refuses it.
local now = call('TIME')
local token = now[1] .. now[2]
if #token < 16 then
    token = now[1] .. string.sub('00000' .. now[2], -6)
end
local last = call('GET', counter)
if not last then
    if ARGV[3] == '0' then
        call('SET', counter, token)
    else
        call('SET', counter, token, 'PX', ARGV[3])
    end
else
    if #last ~= #token or last >= token or last < '1' then
        local number = tonumber(last)
        -- Not a counter, or no exact number in Lua: the next token might not be greater.
        if not number or number < 0 or number >= 9007199254740991 or number % 1 ~= 0 then
            return nonce .. ' 2'
        end
        if number >= tonumber(token) then
            token = string.format('%.0f', number + 1)
        end
    end
    -- It keeps the expiry, and the lack of one.
    call('SET', counter, token, 'KEEPTTL')
end

call('HSET', lock, holder, '1')
local kept = redis.pcall('PEXPIRE', lock, lease)
if kept ~= 1 then
    call('HDEL', lock, holder)
    return kept
end
return nonce .. ' 1 ' .. token
