-- Says who has the lock on one side: `r` for the readers, `w` for the writer. Of several readers it is the one that has it for longest.
-- KEYS: lock, token counter, queue   ARGV: side; nonce
-- Returns the words: nonce, ms to its end (-1: no end, -2: free), token (0: none), the number of those in the queue on this side, how often the holder has it,
-- the number of readers, holder id, which may have spaces | nonce, -3: not a read/write lock

local call, lock, counter, queue = redis.call, unpack(KEYS)
local side, nonce = unpack(ARGV)
local tag = string.sub(counter, 21)
--#include rw_state.lua

if not look() then
    return nonce .. ' -3'
end
local queued, living, longest, last = 0, 0, 0, nil
for _, entry in ipairs(call('ZRANGE', queue, '0', '-1')) do
    queued = queued + (string.sub(entry, 1, 1) == side and 1 or 0)
end
for _, reader in ipairs(readers) do
    local left = left_of(reader)
    living = living + (left > 0 and 1 or 0)
    if left > longest or left == longest and last and reader < last then
        longest, last = left, reader
    end
end
local remaining, has = -2, last
if side == 'w' then
    has = writer
    remaining = writer and call('PTTL', lock) or -2
elseif last then
    remaining = longest < endless_hold and longest or -1
end
local token = call('GET', counter)
local function number_in(text)
    return text and string.match(text, '^%d+$') or '0'
end
return nonce .. string.format(' %.0f ', remaining) .. number_in(token) .. ' ' .. queued .. ' ' .. number_in(has and holds_of[has]) .. ' ' .. living .. ' '
    .. (has and (string.gsub(has, ':write$', '')) or '')
