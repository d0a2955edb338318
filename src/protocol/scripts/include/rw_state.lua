-- The lock is a hash: `mode`, for each reader its holder id with the number of its holds, and for the writer its holder id and `:write`. Each hold of a
-- reader has a key of its own beside the hash, numbered from 1; a reader none of whose keys is left has gone. `tag` is what these begin with.
-- The keys of other readers cannot be among KEYS: their names are in the hash, which only the script reads. Redisson does the same. A server that
-- lets scripts touch declared keys only refuses a read/write lock with several readers.
--#include is_holder.lua

local function is_writer(field)
    return string.find(field, '^.+:%-?%d+:write$') or string.find(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d+:write:.+$')
end

-- False if it is something else, or two have it as writers.
local readers, holds_of, writer = {}, {}, nil
local function look()
    local held, mode = call('HGETALL', lock), nil
    for i = 1, #held, 2 do
        local field = held[i]
        if field == 'mode' then
            mode = held[i + 1]
        else
            holds_of[field] = held[i + 1]
            if is_writer(field) then
                if writer then
                    return false
                end
                writer = field
            elseif is_holder(field) then
                readers[#readers + 1] = field
            else
                return false
            end
        end
    end
    return #held == 0 or mode == 'read' or mode == 'write'
end

-- How long a reader has the lock yet, in ms. Longer than any lease if one of its keys has no end.
local endless_hold = 1000000000000
local function left_of(reader)
    local longest = 0
    -- mutant: writer-beside-readers
    for i = 1, math.min(tonumber(holds_of[reader]) or 1, 1000) do
        local left = call('PTTL', tag .. ':' .. reader .. ':rwlock_timeout:' .. i)
        longest = math.max(longest, left == -1 and endless_hold or left)
    end
    return longest
end

-- Removes the readers that have gone. Returns how long the last of the others has the lock yet: 0 if nobody is left.
local function longest_reader()
    local longest = 0
    for _, reader in ipairs(readers) do
        local left = left_of(reader)
        longest = math.max(longest, left)
        if left <= 0 then
            call('HDEL', lock, reader)
        end
    end
    return longest
end
