-- The number of free permits is kept under `permits`. Each one that is taken is a member of `deadlines`: 16 bytes, and the server's
-- time in ms at which it comes back. Redisson has the same, by its own clock.

-- How many are free; false if nobody has said how many there are, and nothing if the key holds something else.
local function count_free()
    local kept = call('GET', permits)
    return kept and (string.match(kept, '^%-?%d+$') and tonumber(kept) or nil)
end

-- The first one of those that wait and have been heard of; after 64 others the next one, because a script removes no more of them. Its entry
-- is how many it wants, and its holder id.
local function first_place()
    if call('EXISTS', queue) == 0 then
        return nil
    end
    drop_silent()
    for _ = 1, 64 do
        local first = call('ZRANGE', queue, '0', '0')[1]
        if not first or heard_until(first) then
            return first
        end
        drop_place(first)
    end
    return call('ZRANGE', queue, '0', '0')[1]
end

-- The user may not publish on one of the channels.
local refused = false

local function publish(where, what)
    refused = type(redis.pcall('PUBLISH', where, what)) == 'table' or refused
end

-- Says whose turn it is. `more`: the same is said on the semaphore's own channel.
local function call_next(free, more)
    local first = first_place()
    if first then
        local wanted, id = string.match(first, '^(%d+) (.+)$')
        local fits = id and free >= tonumber(wanted)
        if fits or more then
            publish(turns, (fits and id or '-') .. (more and ' 1' or ' 0'))
        end
    end
end

-- Tells those who wait that so many are free.
local function tell_of(free)
    if free > 0 then
        call_next(free, true)
        publish(channel, string.format('%.0f', free))
    end
end

-- Frees permits that the caller has removed. A semaphore whose number nobody has set does not count them. Returns how many are free then.
local function give_back(removed)
    local before = count_free()
    if not before then
        return before
    end
    local count = string.format('%.0f', #removed)
    local free = redis.pcall('INCRBY', permits, count)
    if type(free) ~= 'number' then
        -- The user may not count. The permits are over from now on, and the next acquire gives them back.
        for _, permit in ipairs(removed) do
            call('ZADD', deadlines, string.format('%.0f', ms), permit)
        end
        -- It is refused again, and ends the script.
        call('INCRBY', permits, count)
    end
    tell_of(free)
    return free
end
