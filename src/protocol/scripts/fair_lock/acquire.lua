-- Grants the lock if it is free and nobody came before, or if it is ours already: an attempt may be repeated, its holder id is never
-- used for another. One that is refused and waits keeps its place in the queue, or takes one.
-- KEYS: lock, token counter, queue, deadlines, trust, beginning of the waiters' channels, for a learned lease the usual hold
-- ARGV, each in its place:
--   1 lease in ms
--   2 holder id
--   3 lifetime of the token counter in ms (0: for ever)
--   4 0: does not wait, 1: waits, or the place that it had
--   5 ms that a silent waiter is waited for
--   6 1: preflight
--   7 for a learned lease the shortest one in ms (else 0)
--   8 how many usual holds it covers
--   9 nonce
-- Returns the words: nonce, 1, token, for a learned lease 1, the lease in ms and the usual hold in µs (0: not known, -1: not allowed to know)
--   | nonce, 0, ms after which to ask again, 1 if the lock has no end, with a place in the queue when it came and the server's time, in µs, and 0
--   (else three zeros)
--   | nonce, 2: not a lock, or not its counter

local call, lock, counter, queue, deadlines, trust, channel = redis.call, unpack(KEYS)
local lease, holder, counter_ttl, waits, patience, preflight, shortest, times, nonce = unpack(ARGV)
local usual_key = KEYS[7]
patience = tonumber(patience)
--#include is_holder.lua

local now = call('TIME')
local time = now[1] * 1000000 + now[2]
local ms = math.floor(time / 1000)
--#include fair_queue.lua

local remaining = call('PTTL', lock)
local ours = false
if remaining ~= -2 then
    local held = call('HGETALL', lock)
    for i = 1, #held, 2 do
        ours = ours or held[i] == holder
        if not is_holder(held[i]) then
            return nonce .. ' 2'
        end
    end
end
local free = remaining == -2
local head, more
if not ours then
    head, more = first_waiter(free)
end
-- It asked in time, and has no place any more: nobody has. Those that came before it are about to ask again, too.
local silent = string.match(waits, ' (%d+)$')
local comes_back = silent and silent / 1000 < patience and not call('ZSCORE', trust, holder) and head ~= holder

-- mutant: fair-lock-for-whoever-asks
if not ours and (not free or head and head ~= holder or comes_back) then
    if free and head and not comes_back then
        redis.pcall('PUBLISH', channel .. ':' .. head, '0')
    end
    local look = patience / 4
    local place = ' 0 0 0'
    if waits ~= '0' then
        local ahead, last_deadline = nil, 0
        for i, waiter in ipairs(call('LRANGE', queue, '0', '31')) do
            if waiter == holder then
                ahead = i - 1
                break
            end
            if not call('ZSCORE', trust, waiter) then
                last_deadline = math.max(last_deadline, tonumber(call('ZSCORE', deadlines, waiter)) or 0)
            end
        end
        local came
        if not ahead then
            local length = call('LLEN', queue)
            last_deadline = length > 32 and ms + 86400000 or last_deadline
            -- In the queue, and far behind.
            if length > 32 and call('ZSCORE', trust, holder) then
                ahead = length
            elseif type(redis.pcall('RPUSH', queue, holder)) == 'number' then
                came = place_of(waits)
                ahead = silent and length - move_behind(came) or length
            end
        end
        if ahead then
            -- First, because a server without memory refuses scripts that begin with a write that grows.
            redis.pcall('PEXPIRE', trust, string.format('%.0f', 60000 + patience))
            -- Who is far behind does not have to be heard of so often.
            look = math.min(look * math.max(1, ahead / 16), math.max(look, 5000))
            local trusted = ms + 4 * look
            local deadline, before = trusted, call('ZSCORE', deadlines, holder)
            if last_deadline > 0 then
                -- Each waiter of Redisson's takes its own waiting time from the deadlines behind it when it gets the lock. Theirs is the
                -- sum of those times, and of when they came: five minutes ago, or while this one was here.
                local since = call('ZSCORE', trust, holder)
                deadline = math.max(last_deadline, ms) + 300000
                if before and since then
                    deadline = math.max(deadline, before + math.max(trusted - since, 0))
                end
            end
            if redis.pcall('ZADD', deadlines, string.format('%.0f', deadline), holder) == 0 and before then
                move_deadlines(ahead + 1, deadline - before, deadline)
            end
            if came then
                redis.pcall('ZADD', trust, string.format('%.3f', came / 1000), '@' .. holder)
            end
            local heard = redis.pcall('ZADD', trust, string.format('%.0f', trusted), holder)
            if type(redis.pcall('PEXPIRE', trust, string.format('%.0f', 60000 + patience))) ~= 'number' then
                -- The user may not let it expire, and nobody would forget a waiter that died.
                drop(holder)
            else
                if not keep_for_others() then
                    keep_queue(60000 + patience)
                end
                if type(heard) == 'number' then
                    place = string.format(' %.0f %.0f 0', came or came_of(holder) or time, time)
                end
            end
        end
        if free and head then
            local trusted = call('ZSCORE', trust, head)
            -- Whoever may have gone is removed by the next script, which need not wait.
            look = more and 1 or math.min(look, trusted and trusted - ms + 1 or look)
        elseif head == holder and remaining >= 0 then
            look = math.min(look, remaining)
        end
    end
    return nonce .. string.format(' 0 %.0f', look) .. (remaining == -1 and ' 1' or ' 0') .. place
end

if preflight == '1' and free then
    -- A user without a right fails here, before the first write. SET goes first: a server without memory refuses it.
    call('SET', lock, '', 'XX')
    call('PEXPIRE', lock, lease)
    call('HEXISTS', lock, holder)
    call('HDEL', lock, holder)
    call('LREM', queue, '1', holder)
    call('LRANGE', queue, '0', '0')
    call('LLEN', queue)
    call('ZADD', deadlines, 'XX', 0, holder)
    call('ZADD', trust, 'XX', 0, holder)
    call('ZSCORE', trust, holder)
    call('PUBLISH', channel .. ':' .. holder, '0')
end
local learned = ''
if usual_key then
--#include learned_lease.lua
    learned = ' 1 ' .. told
end

if head then
    -- Before anything that grows: one who waits gets the lock also if the server has no memory.
    drop(holder)
    keep_for_others()
end
local count = '1'
-- For one who did not wait the first write: a server without memory refuses it.
--#include take_tokens.lua
if not token then
    return nonce .. ' 2'
end
call('HSET', lock, holder, '1')
if free or remaining < tonumber(lease) then
    local kept = redis.pcall('PEXPIRE', lock, lease)
    if kept ~= 1 then
        -- One that was ours before keeps its end.
        if free then
            call('HDEL', lock, holder)
        end
        return kept
    end
end
return nonce .. ' 1 ' .. token .. learned
