-- The permits of one hold are the arguments from `first_id` to `last_id`.

-- How many of them are there, and not over. Their ends are noted.
local function count_own(ends)
    local own = 0
    for i = first_id, last_id do
        local till = tonumber(call('ZSCORE', deadlines, ARGV[i]))
        if till and till > ms then
            own = own + 1
            ends[i] = till
        end
    end
    return own
end

-- Removes those that are there, and returns them.
local function drop_own()
    local dropped = {}
    for i = first_id, last_id do
        if call('ZREM', deadlines, ARGV[i]) == 1 then
            dropped[#dropped + 1] = ARGV[i]
        end
    end
    return dropped
end

-- Until when they are kept: never for a shorter time.
local function raise_own(ends, till)
    for i = first_id, last_id do
        if ends[i] < till then
            call('ZADD', deadlines, 'XX', string.format('%.0f', till), ARGV[i])
        end
    end
end
