-- Grants the lock if it is free, or is ours already: an attempt may be repeated, its holder id is never used twice.
-- KEYS: lock, token counter, and to rehearse the channel   ARGV: lease in ms, holder id, lifetime of the token counter in ms (0: for ever), rehearse, nonce
-- Returns nonce, 1, token | nonce, 0, ms to the end of the holder's lease (-1: no end) | nonce, 2: not a lock, or not its counter
--#include is_holder.lua

local lock, counter = KEYS[1], KEYS[2]
local lease, holder, keep, rehearse, nonce = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local remaining = redis.call('PTTL', lock)
local ours = false
if remaining ~= -2 then
    for _, field in ipairs(redis.call('HKEYS', lock)) do
        if field == holder then
            ours = true
        elseif not is_holder(field) then
            return {nonce, 2}
        end
    end
    if not ours then
        return {nonce, 0, remaining}
    end
elseif rehearse == '1' then
    -- What a user may not do has to show before the first write, so that nothing is left half done. None of these does
    -- anything to keys that are not there. SET goes first: a server without memory refuses it.
    redis.call('SET', lock, '', 'XX')
    redis.call('PEXPIRE', lock, lease)
    redis.call('HDEL', lock, holder)
    if redis.call('EXISTS', counter) == 0 then
        redis.call('TIME')
        redis.call('PEXPIRE', counter, lease)
    end
end

-- INCR comes first: a server without memory refuses it, and then nothing has been written.
local token = redis.call('INCR', counter)
if token == 1 then
    -- The counter was not there. Microseconds since 1970 are greater than any token given before it was lost.
    local now = redis.call('TIME')
    token = tonumber(now[1]) * 1000000 + tonumber(now[2])
    local start = string.format('%.0f', token)
    if keep == '0' then
        redis.call('SET', counter, start)
    else
        redis.call('SET', counter, start, 'PX', keep)
    end
elseif token < 1 or token > 9007199254740991 then
    -- Not ours, or no exact number in Lua: the next token might not be greater.
    return {nonce, 2}
elseif keep ~= '0' then
    -- A counter without an expiry was made by Redisson, or for good: it stays so. Others are refreshed when a hundredth
    -- of their time has gone: a write less in nearly every grant.
    local left = redis.call('PTTL', counter)
    if left >= 0 and left < tonumber(keep) * 0.99 then
        redis.call('PEXPIRE', counter, keep)
    end
end

redis.call('HSET', lock, holder, '1')
local kept = redis.pcall('PEXPIRE', lock, lease)
if type(kept) == 'table' and kept.err then
    redis.call('HDEL', lock, holder)
    return kept
end
return {nonce, 1, token}
