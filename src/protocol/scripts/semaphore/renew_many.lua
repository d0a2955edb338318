-- Extends the permits of several holds; never makes one, and never makes a life shorter. What fails for one does not keep the others
-- from being extended. One that has not all its permits has to ask for itself.
-- KEYS: for each hold deadlines and the record of the limit   ARGV: for each hold the lease in ms, how many, and the ids; nonce
-- Returns the words: nonce, a digit for each hold (1: ours, 9: not all there, or failed), or the first error if all have failed: then
-- the cause may be the server's.
local pcall, said, failure, failures = redis.pcall, {}, nil, 0
local now = redis.call('TIME')
local ms = math.floor((now[1] * 1000000 + now[2]) / 1000)
--#include longest_lease.lua

local at = 1
for i = 1, #KEYS / 2 do
    local deadlines, lease = KEYS[2 * i - 1], tonumber(ARGV[at])
    local till = ms + lease
    local first_id, last_id = at + 2, math.min(at + 1 + ARGV[at + 1], #ARGV - 1)
    at = last_id + 1
    -- A write that does nothing, because a server without memory refuses scripts that begin with one that grows. No permit has this
    -- name.
    local result, ours = pcall('ZREM', deadlines, ''), true
    for id = first_id, last_id do
        local ends = type(result) ~= 'table' and pcall('ZSCORE', deadlines, ARGV[id])
        if type(ends) == 'table' then
            result = ends
        end
        ours = ours and type(ends) == 'string' and tonumber(ends) > ms
        if ours and tonumber(ends) < till then
            result = pcall('ZADD', deadlines, 'XX', string.format('%.0f', till), ARGV[id])
        end
    end
    if type(result) == 'table' then
        ours, failure, failures = false, failure or result, failures + 1
    end
    if ours and type(result) ~= 'table' then
        raise_longest(KEYS[2 * i], lease)
    end
    said[i] = ours and '1' or '9'
end

if failure and failures == #KEYS / 2 then
    return failure
end
return ARGV[#ARGV] .. ' ' .. table.concat(said)
