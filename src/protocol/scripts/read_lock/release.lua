-- Ends our hold and nothing else. The lock goes with its last hold, and those that wait are told; readers that have gone do not count.
-- KEYS: lock, channel, queue, times until which those in it are waited for, the key of our hold, after learned leases the usual hold
-- ARGV: holder id, 1: it may be in the queue, and leaves it, how many holds with learned leases have ended, their mean in µs, nonce
-- Returns the words: nonce, 1, 1 if those that wait could be told, or need not be | nonce, 0, 1 if others have the lock, 0 if the key is gone

local call, lock, channel, queue, heard, hold = redis.call, unpack(KEYS)
local holder, leaves, holds, mean, nonce = unpack(ARGV)
local tag = string.sub(channel, 17)
local time, ms, patience
--#include rw_state.lua
--#include kept_places.lua
--#include rw_gone.lua

local left = leaves == '1' and drop_place('r ' .. holder)
local ours = call('HDEL', lock, holder) == 1
call('DEL', hold)
if ours or left then
    afterwards(function()
        if not look() then
            return 1
        elseif ours and not writer then
            local longest = longest_reader()
            if longest == 0 then
                call('DEL', lock)
                return redis.pcall('PUBLISH', channel, '0')
            elseif longest < endless_hold then
                -- Redisson's waiters look when it ends.
                call('PEXPIRE', lock, string.format('%.0f', longest))
            end
        end
        return left and place_given_up() or 1
    end)
end
if not ours then
    return nonce .. ' 0 ' .. call('EXISTS', lock)
end
if KEYS[6] then
--#include usual_hold.lua
    local usual, why = usual_hold(KEYS[6])
    if not why then
        keep_usual_hold(KEYS[6], and_then(usual, holds, mean))
    end
end
return nonce .. (told == false and ' 1 0' or ' 1 1')
