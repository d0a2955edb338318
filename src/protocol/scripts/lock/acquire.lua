-- Grants the lock if it is free, or is ours already: an attempt may be repeated, its holder id is never used for another. A lock that
-- is free while clients wait goes to the first of them.
-- KEYS: lock, token counter, with hand-over the queue, for a preflight the channel, for a learned lease the usual hold as the last one. A key
--   that is not needed is left out: the server checks that the user may use it.
-- ARGV, each in its place:
--   1 lease in ms
--   2 holder id
--   3 lifetime of the token counter in ms (0: for ever)
--   4 number of tokens
--   5 0: no hand-over, 1: hand-over, more: takes a place in the queue if refused, with so many ms to claim the lock
--   6 the place that it had (0: none)
--   7 1: preflight
--   8 for a learned lease the shortest one in ms (else 0)
--   9 how many usual holds it covers (0: the lease is not learned)
--   10 nonce
-- Returns the words: nonce, 1, token, 0 if the preflight found that hand-over is not allowed, for a learned lease the lease in ms, and the
--   usual hold in µs (0: not known, -1: not allowed to know)
--   | nonce, 0, ms to the end of the holder's lease (-1: no end), with a place in the queue its score, the server's time in µs, and how many are
--   before it; if a single holder has it without an end: three zeros without a place, how often it has it, holder id, which may have spaces
--   | nonce, 2: not a lock, or not its counter

local call, lock, counter = redis.call, KEYS[1], KEYS[2]
local lease, holder, counter_ttl, count, window, score, preflight, shortest, times, nonce = unpack(ARGV)
local queue = window ~= '0' and KEYS[3]
local usual_key = times ~= '0' and KEYS[#KEYS]

local time
local free = queue and call('EXISTS', lock, queue) == 0
local remaining = free and -2 or call('PTTL', lock)
if not free then
--#include is_holder.lua
    local busy, other = false, nil
    if remaining == -2 then
        if queue then
            local now = call('TIME')
            time = now[1] * 1000000 + now[2]
            local turn = call('ZRANGE', queue, '0', '0', 'WITHSCORES')
--#include queue.lua
            local on = turn[1] == 'turn' and tonumber(turn[2]) < 0
            local left = on and turn_time(turn[2]) - time or 0
            local entry = holder .. ' ' .. window
            local queued = #window > 1 and (on or score ~= '0') and call('ZSCORE', queue, entry)
            if left > 0 and tonumber(queued or last_score) < turn_time(turn[2]) - turn_length + 16 then
                -- A client that waited when the turn began asks before its end if it hears that one that does not queue has had the
                -- lock, and freed it. A few ask for other reasons, after a reconnection: that costs a part of one turn.
                call('ZADD', queue, 'XX', used_turn(turn[2]), 'turn')
                left = 0
            end
            if left > 0 and left <= turn_length then
                -- Clients that do not queue have the first try.
                busy, remaining = true, math.ceil(left / 1000)
            else
--#include enqueue.lua
                if #window > 1 and score ~= '0' and not queued then
                    -- It was passed over, and may have come before those that are there.
                    enqueue(entry, score, 0)
                end
                local own, next_entry, heads = holder, nil, nil
--#include hand_over.lua
                if given and string.sub(given, 1, #holder + 1) ~= holder .. ' ' then
                    busy, remaining = true, tonumber(string.match(given, '%d+$'))
                elseif more and #window > 1 and call('EXISTS', queue) == 1 then
                    -- Behind those that are gone there may be others that came first.
                    busy, remaining = true, 0
                end
            end
        end
    else
        busy = true
        for _, field in ipairs(call('HKEYS', lock)) do
            -- mutant: acquire-is-not-idempotent
            if field == holder then
                busy = false
            elseif not is_holder(field) then
                return nonce .. ' 2'
            else
                other = field
            end
        end
    end
    if busy then
        local answer, place = nonce .. string.format(' 0 %.0f', remaining), nil
        if #window > 1 then
            if not time then
                local now = call('TIME')
                time = now[1] * 1000000 + now[2]
            end
--#include enqueue.lua
--#include queue.lua
            local entry = holder .. ' ' .. window
            local turn = other and call('ZRANGE', queue, '0', '0', 'WITHSCORES')
            if turn and turn[1] == 'turn' and tonumber(turn[2]) < 0 then
                -- Its holder does not queue.
                call('ZADD', queue, 'XX', used_turn(turn[2]), 'turn')
            end
            local added
            -- mutant: place-by-the-clock-alone
            place, added = enqueue(entry, score, math.max(remaining, 0))
            local ahead = place and call('ZRANK', queue, entry)
            place = place and place .. ahead
            local client = other and string.match(other, '^(.+):')
            if added and ahead == 0 and client and client ~= string.match(holder, '^(.+):') then
                redis.pcall('PUBLISH', 'holdfast_client:' .. client, 'wait lock ' .. other .. ' ' .. lock)
            end
        end
        if remaining == -1 then
            -- Another tool has left it so. A user may lack the right to see more of it.
            local held = redis.pcall('HGETALL', lock)
            if #held == 2 and string.find(held[2], '^%d+$') then
                return answer .. (place or ' 0 0 0') .. ' ' .. held[2] .. ' ' .. held[1]
            end
        end
        return place and answer .. place or answer
    end
end
local further = ''
if remaining == -2 and preflight == '1' then
    -- A user without a right fails here, before the first write. None of these does anything to a key that is not there, but to
    -- the counter, which is about to be raised. SET goes first: a server without memory refuses it.
    call('SET', lock, '', 'XX')
    call('TIME')
    call('PTTL', lock)
    call('PEXPIRE', lock, lease)
    call('HDEL', lock, holder)
    if queue then
        for _, tried in ipairs({
            redis.pcall('ZADD', queue, 'XX', 0, holder), redis.pcall('ZREM', queue, holder), redis.pcall('ZCOUNT', queue, 0, 0),
            redis.pcall('ZSCORE', queue, holder) or 0, redis.pcall('ZRANGE', queue, '0', '0'), redis.pcall('PEXPIREAT', lock, 1),
            redis.pcall('PUBSUB', 'NUMSUB', KEYS[4]), redis.pcall('PUBLISH', 'holdfast_client:' .. holder, ''),
            redis.pcall('INCRBY', counter, 0)
        }) do
            if type(tried) == 'table' and tried.err then
                further = ' 0'
            end
        end
    end
end

if usual_key then
--#include learned_lease.lua
    -- mutant: learned-lease-told-longer-than-it-is
    further = (further ~= '' and further or ' 1') .. ' ' .. told
end

-- The first write: a server without memory refuses it.
--#include take_tokens.lua
if not token then
    return nonce .. ' 2'
end
call('HSET', lock, holder, '1')
if remaining == -2 or remaining < tonumber(lease) then
    -- mutant: lock-without-an-end
    local kept = redis.pcall('PEXPIRE', lock, lease)
    if kept ~= 1 then
        -- One that was ours before keeps its end.
        if remaining == -2 then
            call('HDEL', lock, holder)
        end
        return kept
    end
end
return nonce .. ' 1 ' .. token .. further
