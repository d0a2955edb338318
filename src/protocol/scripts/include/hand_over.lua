-- Gives the lock, which is free, to the first one in the queue whose client is there, and tells that client and the next one. Stops
-- at `own`. `given` is the entry, which is not in the queue any more, and `after` the one behind it; nothing if nobody is there. The
-- reply tells whoever has just asked for `next_entry` that it is the next one. `more`: there may be others behind those that are gone. The
-- script that includes this sets `heads` to the first two entries of the queue, or to nothing. `refused`: the user may not publish on the
-- channels of clients.
-- Ranges are texts: Lua turns a number into one at each call, which takes as long as the call itself.
local given, after, more, refused
for passed = 1, 64 do
    local entry, second = unpack(heads or call('ZRANGE', queue, '0', '1'))
    -- mutant: second-client-first
    heads = nil
    if not entry then
        break
    end
    local ended = entry == 'turn' and tonumber(call('ZSCORE', queue, entry))
    -- First, because a server without memory refuses scripts that begin with a write that grows.
    call('ZREM', queue, entry)
    local id, client, window = string.match(entry, '^((.+):%d+) (%d+)$')
    if ended and ended < 0 then
--#include queue.lua
        -- What was longer than a second was not many grants, but a long one.
        local waiting, took = count_waiting(), math.min(math.max(time - turn_time(ended) + turn_length, 0), 1000000)
        if waiting > 0 then
            local unused = unused_turns(ended)
            unused = unused == 15 and 0 or math.min(unused + 1, 14)
            call('ZADD', queue, next_turn(took, waiting, count_others(waiting), unused), 'turn')
        end
    elseif id and id == own then
        given = entry
        break
    -- Before anything is published: what is published on one node of a cluster is heard on all, and only those on this one are counted.
    -- mutant: dead-clients-get-the-lock
    elseif id and call('PUBSUB', 'NUMSUB', 'holdfast_client:' .. client)[2] > 0 then
        local count = '1'
--#include take_tokens.lua
        if not token then
            break
        end
        call('HSET', lock, id, '1')
--#include digits.lua
        local kept = redis.pcall('PEXPIREAT', lock, digits(time / 1000 + window + 1, 13))
        -- mutant: next-client-is-not-told
        if second and second ~= next_entry then
            local next_id, next_client = string.match(second, '^((.+):%d+) %d+$')
            if next_id then
                redis.pcall('PUBLISH', 'holdfast_client:' .. next_client, 'next lock ' .. next_id .. ' ' .. window .. ' ' .. lock)
            end
        end
        local told = kept == 1 and redis.pcall('PUBLISH', 'holdfast_client:' .. client,
            'grant lock ' .. id .. ' ' .. token .. ' ' .. digits(time, 16) .. ' ' .. window .. ' ' .. lock)
        if type(told) == 'number' then
            given, after = entry, second
            break
        end
        refused = type(told) == 'table'
        call('HDEL', lock, id)
    end
    more = passed == 64
end
