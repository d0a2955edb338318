-- Each client that waits has a place in the queue for each thing that it waits for: a member is `<holder id> <what it wants>`, in the
-- order of arrival by the server's time in µs. The holder id is the one that the client will have.
-- `trust` has until when each is waited for, by the server's time in ms. They renew it while they wait, and lose their place when they
-- were silent for too long. `entry` is the member of the one who asks: it is not silent.

local function leave(member)
    call('ZREM', queue, member)
    call('ZREM', trust, member)
end

-- The first one that has not been silent for too long.
local function first_place()
    local first = call('ZRANGE', queue, 0, 0)[1]
    if not first then
        return nil
    end
    for _, silent in ipairs(call('ZRANGEBYSCORE', trust, '-inf', string.format('%.0f', ms), 'LIMIT', 0, 100)) do
        if silent ~= entry then
            leave(silent)
        end
    end
    for _ = 1, 100 do
        first = call('ZRANGE', queue, 0, 0)[1]
        if not first or first == entry or call('ZSCORE', trust, first) then
            break
        end
        leave(first)
    end
    return first
end

-- Keeps the place of the one who asks, or gives it the last one. Returns its score, the time and how many are before it; nothing if
-- the server does not take it.
local function keep_place(patience)
    local score = call('ZSCORE', queue, entry)
    if not score then
        local newest = call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
        score = string.format('%.0f', newest and math.max(time, newest + 1) or time)
        if type(redis.pcall('ZADD', queue, score, entry)) == 'table' then
            return nil
        end
    end
    local life = string.format('%.0f', 60000 + patience)
    -- First, because a server without memory refuses scripts that begin with a write that grows.
    call('PEXPIRE', queue, life)
    if type(redis.pcall('ZADD', trust, string.format('%.0f', ms + patience), entry)) == 'table' then
        leave(entry)
        return nil
    end
    call('PEXPIRE', trust, life)
    -- Servers differ in how they write great numbers.
    return string.format(' %.0f %.0f ', score, time) .. call('ZRANK', queue, entry)
end
