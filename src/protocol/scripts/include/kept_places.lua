-- Those who wait, in the order of their arrival: `queue` has when each came, by the server's time in µs or a little more, and `heard` until when
-- each is waited for, in ms. Each asks again before that. An entry is a word that says what is wanted, and the holder id that its client
-- will have. Both keys expire when nobody asks any more.
-- The fraction of a time in `heard` says for how long its waiter may be silent, in 4096ths of 61440 ms.
--#include stated_place.lua

local function drop_place(entry)
    call('ZREM', heard, entry)
    return call('ZREM', queue, entry) == 1
end

-- What a time in `heard` should be, if not `till`: one that is farther ahead than it can be was written before the server's clock stepped
-- back. Its waiter is waited for from now on, for the longest patience if its own is not known.
local function corrected(till)
    local patience = till % 1 * 61440
    local latest = ms + till % 1 + (patience == 0 and 60000 or patience)
    -- mutant: kept-place-through-a-step-back
    return till > latest + 1 and latest
end

-- All at once: several waiters that are gone cost one patience. A script corrects at most 1,000.
local function correct_all()
    local all, better = call('ZRANGE', heard, '-1000', '-1', 'WITHSCORES'), {}
    for i = 1, #all, 2 do
        local till = corrected(tonumber(all[i + 1]))
        if till then
            better[#better + 1] = string.format('%.12f', till)
            better[#better + 1] = all[i]
        end
    end
    if #better > 0 then
        redis.pcall('ZADD', heard, unpack(better))
    end
end

-- A script has removed as many places as it may, and whoever is refused should ask again soon.
local more_gone = false

-- Those that have not been heard of in time. A script removes at most 1,000 in this way.
local function drop_silent()
    local last = call('ZRANGE', heard, '-1', '-1', 'WITHSCORES')[2]
    if last and corrected(tonumber(last)) then
        correct_all()
    end
    local silent = call('ZRANGEBYSCORE', heard, '-inf', string.format('(%.0f', ms + 1), 'LIMIT', '0', '1000')
    if #silent > 0 then
        call('ZREM', heard, unpack(silent))
        call('ZREM', queue, unpack(silent))
    end
    more_gone = #silent == 1000
end

-- Until when this one is waited for.
local function heard_until(entry)
    local till = tonumber(call('ZSCORE', heard, entry))
    local now_till = till and corrected(till)
    if now_till then
        correct_all()
    end
    return now_till or till
end

-- The waiter asked in time, and its place is gone all the same: the places of all are. Those that came before it are about to ask again, too.
-- It takes its place, and is granted nothing before it has asked once more.
local function comes_back(entry)
    local silent = string.match(waits, ' (%d+)$')
    return silent and silent / 1000 < patience and not call('ZSCORE', queue, entry)
end

-- Returns the place as a reply says it: its number, the time, and how many are told before it. Nobody is: each asks for itself. It returns
-- nothing if the server refuses the place, or refuses to let it expire.
local function keep_place(entry)
    local came = call('ZSCORE', queue, entry)
    local life = string.format('%.0f', 60000 + patience)
    if came then
        -- First, because a server without memory refuses scripts that begin with a write that grows.
        redis.pcall('PEXPIRE', heard, life)
    else
        came = place_of(waits, call('ZRANGE', queue, '-1', '-1', 'WITHSCORES')[2])
        if type(redis.pcall('ZADD', queue, string.format('%.0f', came), entry)) ~= 'number' then
            return nil
        end
    end
    if redis.pcall('PEXPIRE', queue, life) ~= 1 or
        type(redis.pcall('ZADD', heard, string.format('%.12f', ms + patience + math.ceil(patience / 15) / 4096), entry)) ~= 'number' or
        redis.pcall('PEXPIRE', heard, life) ~= 1 then
        drop_place(entry)
        return nil
    end
    return string.format(' %.0f %.0f 0', came, time)
end

-- The first entry before `own` that matches; the first of all if `own` has no place. Whoever lives and is not in `heard`, because that was
-- lost, asks again and states its place: the entry is removed. After 64 of them the next one is returned, which may have gone as well.
local function first_before(own, pattern)
    local from, dropped = 0, 0
    repeat
        local some = call('ZRANGE', queue, from, from + 31)
        from = from + 32
        for _, entry in ipairs(some) do
            if entry == own then
                return nil
            elseif string.find(entry, pattern) then
                more_gone = more_gone or dropped == 64
                if more_gone or heard_until(entry) then
                    return entry
                end
                drop_place(entry)
                from, dropped = from - 1, dropped + 1
            end
        end
    until #some < 32
end
