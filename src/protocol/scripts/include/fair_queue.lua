-- The queue is Redisson's: a list of holder ids in the order of their arrival, and the time until which each is waited for, in ms
-- by the clock of whoever wrote it. Whoever is told that the lock is free listens to a channel of his own.
-- `trust` is ours: until when our own waiters are waited for, by the server's time in ms. They renew it while they wait. A member
-- that begins with `?` is another client's waiter who does not listen, and when that was seen first, and the patience. One that begins with
-- `@` is when a waiter of ours came.
--#include stated_place.lua

local function listens(waiter)
    local heard = redis.pcall('PUBSUB', 'NUMSUB', channel .. ':' .. waiter)
    -- A user may lack the right to ask.
    return heard.err or heard[2] > 0
end

local function drop(waiter)
    call('LREM', queue, '1', waiter)
    call('ZREM', deadlines, waiter)
    call('ZREM', trust, waiter, '?' .. waiter, '@' .. waiter)
end

local function last_of(times)
    return tonumber(call('ZRANGE', times, '-1', '-1', 'WITHSCORES')[2]) or 0
end

local function keep_queue(life)
    redis.pcall('PEXPIRE', queue, string.format('%.0f', life))
    redis.pcall('PEXPIRE', deadlines, string.format('%.0f', life))
end

-- Redisson lets the queue stay for ever. Whoever is waited for longer than any of ours is a waiter of Redisson's, or was behind one: then
-- it stays for a day. Where all are ours it goes with their trust, because each is heard of more often than once a minute.
local function keep_for_others()
    if last_of(deadlines) > last_of(trust) then
        keep_queue(86400000)
        return true
    end
end

-- In µs; nothing if that is not known.
local function came_of(waiter)
    local kept = call('ZSCORE', trust, '@' .. waiter)
    return kept and math.floor(kept * 1000 + 0.5)
end

-- Puts those of ours behind the last one in the queue that came later. Returns how many these are.
local function move_behind(came)
    local all = call('LRANGE', queue, '-256', '-2')
    local first = #all + 1
    while first > 1 and (came_of(all[first - 1]) or 0) > came do
        first = first - 1
    end
    for i = first, #all do
        call('LREM', queue, '-1', all[i])
        call('RPUSH', queue, all[i])
    end
    return #all + 1 - first
end

-- Redisson makes a waiter's deadline that of the one before it, and its own waiting time. Before 3.32 a waiter sleeps until the deadline of
-- the one before it, as the script told it. A waiter that is told of a deadline which has passed sleeps for ever. A waiter of ours renews
-- its deadline while it waits. This function moves the deadlines behind it by as much, up to the next of ours. None becomes earlier than
-- `least`.
local function move_deadlines(from, by, least)
    for _, waiter in ipairs(call('LRANGE', queue, from, from + 127)) do
        if call('ZSCORE', trust, waiter) then
            break
        end
        local deadline = call('ZSCORE', deadlines, waiter)
        if deadline then
            redis.pcall('ZADD', deadlines, string.format('%.0f', math.max(deadline + by, least)), waiter)
        end
    end
end

-- Whether the first one has been silent for too long. One who may have the lock, and does not take it, is not waited for for long.
local function is_gone(head, free, gone_client)
    local trusted = tonumber(call('ZSCORE', trust, head))
    if trusted then
        if free and trusted > ms + patience then
            trusted = ms + patience
            -- So are the next ones that do not listen: up to 32 that have gone cost one patience.
            for _, waiter in ipairs(call('LRANGE', queue, '0', '31')) do
                local till = call('ZSCORE', trust, waiter)
                if till and tonumber(till) > trusted and (waiter == head or not listens(waiter)) then
                    redis.pcall('ZADD', trust, string.format('%.0f', trusted), waiter)
                end
            end
        end
        -- The others of a client that has gone are not waited for one after the other.
        return trusted <= ms or string.match(head, '^(.+):') == gone_client and not listens(head)
    end
    local deadline = tonumber(call('ZSCORE', deadlines, head))
    if not deadline or deadline <= ms then
        return true
    end
    if not free then
        return false
    end
    if listens(head) then
        call('ZREM', trust, '?' .. head)
        return false
    end
    local till = tonumber(call('ZSCORE', trust, '?' .. head))
    -- A time that is farther ahead was written before the server's clock stepped back.
    if not till or till > ms + patience then
        till = nil
        redis.pcall('ZADD', trust, string.format('%.0f', ms + patience), '?' .. head)
        -- There may be no waiter of ours that sets an expiry.
        if redis.pcall('PEXPIRE', trust, string.format('%.0f', 60000 + patience)) ~= 1 then
            call('ZREM', trust, '?' .. head)
        end
    end
    return till and till <= ms
end

-- The lock is free: the first one is told, and nobody else. A waiter of Redisson's that is told before it is the first one asks again and
-- again until it is. Ours ask four times in their patience.
local function tell(head)
    return redis.pcall('PUBLISH', channel .. ':' .. head, '0')
end

-- The first one in the queue that has not gone, or is `holder`. A script removes at most 64 that have gone. Then the next one comes first, which
-- may have gone as well: the second result says so, and the next script goes on.
local function first_waiter(free)
    local gone_client
    for _ = 1, 64 do
        local head = call('LINDEX', queue, '0')
        if not head or head == holder or not is_gone(head, free, gone_client) then
            return head
        end
        gone_client = not listens(head) and string.match(head, '^(.+):')
        drop(head)
    end
    return call('LINDEX', queue, '0'), true
end
