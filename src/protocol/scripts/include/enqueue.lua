-- Keeps the place of an entry that comes again, or gives it the place that it states. A queue that nobody looks at any more expires. Returns
-- its score and the time, and whether it is new; nothing if the server does not take it.
--#include digits.lua
--#include stated_place.lua
local function enqueue(entry, stated, ms)
    local last = call('ZRANGE', queue, '-2', '-1', 'WITHSCORES')
    local newest = last[last[#last - 1] == 'turn' and #last - 2 or #last]
    local score = digits(place_of(stated, newest), 16)
    local left, life = call('PTTL', queue), ms + 60000
    local added = redis.pcall('ZADD', queue, 'NX', score, entry)
    if type(added) == 'table' then
        return nil
    end
    -- Servers differ in how they write great numbers.
    -- mutant: expiry-of-a-queue-is-lowered
    if left < life and redis.pcall('PEXPIRE', queue, string.format('%.0f', life)) ~= 1 then
        call('ZREM', queue, entry)
        return nil
    end
    if added == 0 then
        score = call('ZSCORE', queue, entry)
    end
    return ' ' .. score .. ' ' .. digits(time, 16) .. ' ', added == 1
end
