-- Frees the lock whoever has it; something that is not a lock is left alone. The first one in the queue is told.
-- KEYS: lock, beginning of the waiters' channels, queue, deadlines, trust   ARGV: ms that a silent waiter is waited for; nonce
-- Returns the words: nonce, 1, 1 if the next one could be told | nonce, 0: was free | nonce, 2: not a lock
--#include is_holder.lua

local call, lock, channel, queue, deadlines, trust = redis.call, unpack(KEYS)
local patience, nonce = tonumber(ARGV[1]), ARGV[2]

local fields = call('HKEYS', lock)
if #fields == 0 then
    return nonce .. ' 0'
end
for _, field in ipairs(fields) do
    if not is_holder(field) then
        return nonce .. ' 2'
    end
end
call('DEL', lock)
local told = 1
local done = pcall(function()
    local holder
    local now = call('TIME')
    local ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
--#include fair_queue.lua
    keep_for_others()
    local head = first_waiter(true)
    if head then
        told = tell(head)
    end
end)
return nonce .. (done and type(told) == 'number' and ' 1 1' or ' 1 0')
