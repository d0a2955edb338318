-- Frees the lock whoever has it; something that is not a lock is left alone.
-- KEYS: lock, channel   ARGV: nonce
-- Returns the words: nonce, 1, 1 if the waiters could be told | nonce, 0: was free | nonce, 2: not a lock
--#include is_holder.lua

local fields = redis.call('HKEYS', KEYS[1])
if #fields == 0 then
    return ARGV[1] .. ' 0'
end
for _, field in ipairs(fields) do
    -- mutant: forced-release-of-a-foreign-value
    if not is_holder(field) then
        return ARGV[1] .. ' 2'
    end
end
redis.call('DEL', KEYS[1])
-- Its client may be about to pass it on without asking.
local client = string.match(fields[1], '^(.+):')
redis.pcall('PUBLISH', 'holdfast_client:' .. client, 'look lock ' .. fields[1] .. ' ' .. KEYS[1])
-- It is free by now, whether the user may publish or not.
local told = redis.pcall('PUBLISH', KEYS[2], '0')
if type(told) == 'table' then
    return ARGV[1] .. ' 1 0'
end
return ARGV[1] .. ' 1 1'
