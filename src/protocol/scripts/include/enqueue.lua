-- Keeps the place of an entry that comes again with its old score. A queue that nobody looks at any more expires. Returns its
-- score and the time, and whether it is new; nothing if the server does not take it.
--#include digits.lua
local function enqueue(entry, score, ms)
    if score == '0' then
        local last = call('ZRANGE', queue, '-2', '-1', 'WITHSCORES')
        local newest = last[last[#last - 1] == 'turn' and #last - 2 or #last]
        score = digits(newest and math.max(time, newest + 1) or time, 16)
    end
    local left, life = call('PTTL', queue), ms + 60000
    local added = redis.pcall('ZADD', queue, 'NX', score, entry)
    if type(added) == 'table' then
        return nil
    end
    -- Servers differ in how they write great numbers.
    if left < life and redis.pcall('PEXPIRE', queue, string.format('%.0f', life)) ~= 1 then
        call('ZREM', queue, entry)
        return nil
    end
    if added == 0 then
        score = call('ZSCORE', queue, entry)
    end
    return ' ' .. score .. ' ' .. digits(time, 16) .. ' ', added == 1
end
