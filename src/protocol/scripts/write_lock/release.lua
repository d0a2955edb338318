-- Ends our hold and nothing else. Holds that its owner has as a reader stay, and others may read from now on. Those that wait are told.
-- KEYS: lock, channel, queue, times until which those in it are waited for, after learned leases the usual hold
-- ARGV: holder id, 1: it may be in the queue, and leaves it, how many holds with learned leases have ended, their mean in µs, nonce
-- Returns the words: nonce, 1, 1 if those that wait could be told | nonce, 0, 1 if others have the lock, 0 if the key is gone

local call, lock, channel, queue, heard = redis.call, unpack(KEYS)
local holder, leaves, holds, mean, nonce = unpack(ARGV)
local tag = string.sub(channel, 17)
local time, ms, patience
--#include rw_state.lua
--#include kept_places.lua
--#include rw_gone.lua

local left = leaves == '1' and drop_place('w ' .. holder)
local ours = call('HDEL', lock, holder .. ':write') == 1
if ours or left then
    afterwards(function()
        if not look() then
            return 1
        elseif ours and not writer then
            local longest = longest_reader()
            if longest == 0 then
                call('DEL', lock)
            else
                call('HSET', lock, 'mode', 'read')
                if longest < endless_hold then
                    call('PEXPIRE', lock, string.format('%.0f', longest))
                end
            end
            local told = redis.pcall('PUBLISH', channel, '1')
            -- A waiter of Java that has found the lock taken, and does not sleep yet, misses that. This one is kept for it.
            if call('EXISTS', queue) == 0 then
                redis.pcall('PUBLISH', channel, '0')
            end
            return told
        end
        return left and place_given_up() or 1
    end)
end
if not ours then
    return nonce .. ' 0 ' .. call('EXISTS', lock)
end
if KEYS[5] then
--#include usual_hold.lua
    local usual, why = usual_hold(KEYS[5])
    if not why then
        keep_usual_hold(KEYS[5], and_then(usual, holds, mean))
    end
end
return nonce .. (told == false and ' 1 0' or ' 1 1')
