-- Grants the lock of one node of a quorum if it is free, or is ours already: an attempt may be repeated, its holder id is never used for
-- another. A queue is not looked at, and no place is taken in one.
-- KEYS: lock, token counter, for a preflight the channel
-- ARGV: lease in ms, holder id, lifetime of the token counter in ms (0: for ever), the token that the client proposes (0: none), nonce
-- Returns the words: nonce, 1, token, the server's time in µs
--   | nonce, 0, ms to the end of the holder's lease (-1: no end), the last token (0: none), the server's time in µs
--   | nonce, 2: not a lock, or not its counter

local call, lock, counter, preflight = redis.call, KEYS[1], KEYS[2], KEYS[3]
local lease, holder, counter_ttl, proposed, nonce = unpack(ARGV)
--#include last_token.lua

local now = call('TIME')
local time = now[1] * 1000000 + now[2]
local last, kept = last_token()
local remaining, ours = call('PTTL', lock), false
if remaining ~= -2 then
--#include is_holder.lua
    for _, field in ipairs(call('HKEYS', lock)) do
        if field == holder then
            ours = true
        elseif not is_holder(field) then
            return nonce .. ' 2'
        end
    end
    if not ours then
        return nonce .. string.format(' 0 %.0f %.0f %.0f', remaining, last or 0, time)
    end
elseif preflight then
    -- A user without a right fails here, before the first write. None of these does anything to a key that is not there, but for SET,
    -- which the counter is about to get. It goes first: a server without memory refuses it.
    call('SET', lock, '', 'XX')
    call('PEXPIRE', lock, lease)
    call('HDEL', lock, holder)
    call('HEXISTS', lock, holder)
    call('EXISTS', lock)
end
if not last then
    return nonce .. ' 2'
end
-- What is proposed is what the nodes should agree upon. A counter that was lost starts at the server's time, and so does one that is
-- behind it while nobody proposes more: a client whose proposal is that old knows little of this server.
local token = tonumber(proposed)
if token <= last or token < time - 100000 then
    token = math.max(last + 1, time)
end
if token > 9007199254740991 then
    return nonce .. ' 2'
end
-- The first write: a server without memory refuses it.
local text = keep_token(token, kept)
call('HSET', lock, holder, '1')
if remaining == -2 or remaining < tonumber(lease) then
    local expires = redis.pcall('PEXPIRE', lock, lease)
    if expires ~= 1 then
        -- One that was ours before keeps its end.
        if remaining == -2 then
            call('HDEL', lock, holder)
        end
        return expires
    end
end
return nonce .. ' 1 ' .. text .. string.format(' %.0f', time)
