-- How long the lock is usually held, in µs, as a running mean. What is not such a number is not known. Returns nothing then, and
-- why it could not be read: it may be data of another kind, or not allowed.
local function usual_hold(key)
    local kept = redis.pcall('GET', key)
    if type(kept) == 'string' and #kept <= 11 and string.find(kept, '^%d+$') then
        return tonumber(kept)
    end
    return nil, type(kept) == 'table' and kept.err
end

-- With so many more holds, `mean` µs long: the newest of all weighs 0.2.
local function and_then(usual, holds, mean)
    if holds == '0' then
        return usual
    end
    local old = usual and 0.8 ^ holds or 0
    return old * (usual or 0) + (1 - old) * mean
end

-- For a day. No harm is done if the server does not take it.
local function keep_usual_hold(key, usual)
    if usual then
        redis.pcall('SET', key, string.format('%.0f', usual), 'PX', '86400000')
    end
end

-- A lease in ms: so many times as long as a usual hold.
local function covering(usual, times, shortest, longest)
    return string.format('%.0f', math.min(longest, math.max(shortest, math.ceil(usual * times / 1000))))
end
