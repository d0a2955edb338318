-- How many permits there are in all. Redisson's scripts keep the sum of the free permits and of the members of `deadlines`, expired ones
-- included; only a change of the limit or a loss of data breaks that. `record` is our own key. It holds
--   total longest                      the last sum, and the longest lease granted so far, in ms
--   total longest without lost_until   as long as permits are missing because the set was lost: the sum without them, and the server's time
--                                      in ms at which the last of their leases has ended
-- `total` is `without`, and not more than 0, if nothing but a stated limit can tell how many are missing. The record expires 30 days after its
-- text changed for the last time; the next script makes it again from the sum.
local total, longest, without, lost_until, noted

-- Reads the record; false if the key holds something else. A Redis user without the permission has none.
local function read_record()
    noted = redis.pcall('GET', record)
    if type(noted) == 'table' then
        return not string.find(noted.err, 'WRONGTYPE')
    end
    if not noted then
        return true
    end
    local rest
    total, longest, rest = string.match(noted, '^(%-?%d+) (%d+)(.*)$')
    if not total then
        return false
    end
    without, lost_until = string.match(rest, '^ (%-?%d+) (%d+)$')
    total, longest = tonumber(total), tonumber(longest)
    without, lost_until = tonumber(without), tonumber(lost_until)
    return rest == '' or without ~= nil
end

-- How many permits are free where their number was lost. Those who have permits keep them, also if that leaves less than none. Where the set was
-- lost as well, each permit may be held, and `settle` waits for the longest lease.
local function free_without_number(taken, limit)
    if total and taken == 0 and longest > 0 then
        return math.min(without or total, 0)
    end
    return (without or total or limit) - taken
end

-- Makes a number again that was lost, from the record, if the user may. Returns how many are free then, or false. A semaphore that somebody
-- gave an end has come to it.
local function restore_number(taken)
    if not total or call('PTTL', deadlines) >= 0 then
        return false
    end
    local free = (without or total) - taken
    local kept = redis.pcall('SET', permits, string.format('%.0f', free))
    return not kept.err and free
end

-- Compares the record with what is there: `free` permits, which is a number, and `taken` members of the set. Where the set was lost, permits
-- may be held for the longest lease of all, or for `lease`. `limit` is what the waiters say, or 0.
local function settle(free, taken, lease, limit)
    local sum = free + taken
    if not total then
        total, longest = sum, 0
        if sum <= 0 and taken == 0 then
            -- The set was lost together with the record. How long the leases are that were lost is not known: as long as the default at
            -- least.
            longest, without, lost_until = 30000, sum, ms + math.max(30000, lease)
        end
    end
    if total <= 0 and total == without and limit > 0 then
        total = limit
    end
    if taken == 0 and sum < total and sum ~= without then
        -- Or somebody lowered the limit while no permit was out, which looks the same. More than there were without the missing ones:
        -- somebody added some, and the others are missing as before.
        if not without or sum < without then
            lost_until = ms + math.max(longest, lease)
        end
        without = sum
    elseif sum ~= (without or total) then
        total, without = sum, nil
    end
    if taken > 0 then
        -- Leases that others granted. One of more than a day has no end that could be waited for.
        local left = call('ZRANGE', deadlines, '-1', '-1', 'WITHSCORES')[2] - ms
        if left > longest and left <= 86400000 then
            longest = left
        end
    end
end

-- How many permits are missing, and may be held all the same.
local function count_lost()
    return without and total - without or 0
end

-- Not before the script's first write: a server without memory refuses scripts that begin with one that grows.
local function keep_record()
    local text = string.format('%.0f %.0f', total, longest)
    if without then
        text = text .. string.format(' %.0f %.0f', without, lost_until)
    end
    if text ~= noted then
        redis.pcall('SET', record, text, 'PX', '2592000000')
    end
end
