-- Removes our field and nothing else; a lock of somebody else's is left alone. The first one in the queue is told that the lock is free.
-- KEYS: lock, beginning of the waiters' channels, queue, deadlines, trust, after learned leases the usual hold
-- ARGV: holder id, 1: it may be in the queue, and leaves it, ms that a silent waiter is waited for, how many holds with learned leases have
--   ended, their mean in µs, nonce
-- Returns the words: nonce, 1, 1 if the next one could be told | nonce, 0, 1 if another holder has it, 0 if the key is gone; if the lock is
--   free and the first one does not listen, three zeros, a minus sign, and ms after which it is not waited for any more

local call, lock, channel, queue, deadlines, trust = redis.call, unpack(KEYS)
local holder, leaves, patience, holds, mean, nonce = unpack(ARGV)
patience = tonumber(patience)

local ms
--#include fair_queue.lua
if leaves == '1' then
    drop(holder)
end
local ours = call('HDEL', lock, holder) == 1
local told, further = 1, ''
if call('EXISTS', queue) == 1 then
    -- The lock may be free by now. A user who lacks a right for the rest must not be told otherwise.
    local done = pcall(function()
        keep_for_others()
        if call('EXISTS', lock) == 1 then
            return
        end
        local now = call('TIME')
        ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
        local head, more = first_waiter(true)
        if head then
            told = tell(head)
            -- Nobody else may look, when it is gone, who is the first one then.
            further = told == 0 and string.format(' 0 0 0 - %.0f', more and 1 or patience) or ''
        end
    end)
    if not done then
        told = nil
    end
end
if KEYS[6] and ours then
--#include usual_hold.lua
    local usual, why = usual_hold(KEYS[6])
    if not why then
        keep_usual_hold(KEYS[6], and_then(usual, holds, mean))
    end
end
if not ours then
    return nonce .. ' 0 ' .. call('EXISTS', lock) .. further
end
return nonce .. (type(told) == 'number' and ' 1 1' or ' 1 0') .. further
