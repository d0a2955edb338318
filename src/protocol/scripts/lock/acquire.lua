-- Grants the lock if it is free, or is ours already: an attempt may be repeated, its holder id is never used twice.
-- KEYS: lock, token counter, for a preflight the channel   ARGV: lease in ms, holder id, lifetime of the token counter in ms (0: for ever), floor, nonce
-- Returns the words: nonce, 1, token | nonce, 0, ms to the end of the holder's lease (-1: no end) | nonce, 2: not a lock, or not its counter

local call, lock, counter = redis.call, KEYS[1], KEYS[2]
local lease, holder, counter_ttl, floor, nonce = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

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

-- The token is one more than the last one, or the server's time in microseconds if that is greater: tokens grow also after
-- the counter was lost, expired, was started anew by another client, or came from a replica that had been behind. A counter
-- that has reached the floor was written on this server a moment ago. Nothing of that can have happened since, and the
-- clock need not be looked at. INCR is the first write: a server without memory refuses it.
local number = call('INCR', counter)
-- %d is quick, and wrong for so great a number where Lua's integers have 32 bits. Times have 16 digits, and digits of one
-- length compare as their numbers do.
local token = string.format('%d', number)
if #token ~= 16 or token < floor or number > 9007199254740991 then
    -- Not a counter, or no exact number in Lua: the next token might not be greater.
    if number < 1 or number > 9007199254740991 then
        return nonce .. ' 2'
    end
    local now = call('TIME')
    local time = now[1] * 1000000 + now[2]
    token = string.format('%.0f', math.max(number, time))
    if number == 1 and counter_ttl ~= '0' then
        call('SET', counter, token, 'PX', counter_ttl)
    elseif time > number then
        -- It keeps the expiry, and the lack of one.
        call('SET', counter, token, 'KEEPTTL')
    end
end

call('HSET', lock, holder, '1')
local kept = redis.pcall('PEXPIRE', lock, lease)
if kept ~= 1 then
    call('HDEL', lock, holder)
    return kept
end
return nonce .. ' 1 ' .. token
