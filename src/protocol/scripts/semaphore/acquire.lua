-- Grants permits if so many are free and nobody came before, or if they are ours already: an attempt may be repeated, its permits have
-- ids of their own. One that is refused and waits keeps its place in the queue, or takes one.
-- KEYS: permits, deadlines, channel, token counter, queue, heard, channel of the turns, record of the limit, for a learned lease the usual
--   hold
-- ARGV, each in its place:
--   1 how many
--   2 holder id
--   3 lease in ms
--   4 lifetime of the token counter in ms (0: for ever)
--   5 0: does not wait, 1: waits, or the place that it had
--   6 ms that a silent waiter is waited for
--   7 1: preflight
--   8 how many permits the waiters say there are (0: they do not say)
--   9 for a learned lease the shortest one in ms (else 0)
--   10 how many usual holds it covers
--   then the ids; nonce
-- Returns the words: nonce, 1, token, for a learned lease 1, the lease in ms and the usual hold in µs (0: not known, -1: not allowed to know),
--   else 1, 0 and 0, LIMIT | nonce, 0, ms after which to ask again, its place in the queue (when it came and the server's time, in µs, and
--   0; three zeros without one), LIMIT | nonce, 2: not a semaphore, or not its counter or record | nonce, 3, 0, 0, 0, 0, LIMIT: there are not
--   so many | nonce, 4: nobody has said how many there are
-- LIMIT: how many there are (-: nobody has said it), how many were missing and are free again, 1 if those who wait could be told of free ones

local call, permits, deadlines, channel, counter, queue, heard, turns, record = redis.call, unpack(KEYS)
local wanted, holder, lease, counter_ttl, waits, patience, preflight, limit, shortest, times = unpack(ARGV)
local nonce, usual_key = ARGV[#ARGV], KEYS[9]
local first_id, last_id = math.max(#ARGV - wanted, 1), #ARGV - 1
local entry = wanted .. ' ' .. holder
wanted, patience = tonumber(wanted), tonumber(patience)

local now = call('TIME')
local time = now[1] * 1000000 + now[2]
local ms = math.floor(time / 1000)
--#include kept_places.lua
--#include permits.lua
--#include own_permits.lua
--#include limit.lua

local free, taken, ends = count_free(), call('ZCARD', deadlines), {}
if free == nil or not read_record() then
    return nonce .. ' 2'
end
local own = count_own(ends)
local ours = own == wanted
local set_now, found = not free and limit ~= '0', 0
if set_now then
    free = free_without_number(taken, limit)
    call('SET', permits, string.format('%.0f', free))
elseif not free and not ours then
    drop_place(entry)
    return nonce .. ' 4'
end
if free then
    settle(free, taken, tonumber(lease), tonumber(limit))
    if count_lost() > 0 and ms >= lost_until and type(redis.pcall('INCRBY', permits, string.format('%.0f', count_lost()))) == 'number' then
        found = count_lost()
        free, without = free + found, nil
    end
end
local function about_limit()
    return string.format(' %s %.0f', total and string.format('%.0f', total) or '-', found) .. (refused and ' 0' or ' 1')
end

if not ours then
    if own > 0 then
        free = give_back(drop_own())
    end
    local ended = call('ZRANGEBYSCORE', deadlines, '0', string.format('%.0f', ms), 'LIMIT', 0, 1000)
    if #ended > 0 then
        call('ZREM', deadlines, unpack(ended))
        free = give_back(ended)
    end
end
-- mutant: one-permit-more-than-there-are
local enough = free and free >= wanted
local head = not ours and first_place()

if not ours and (not enough or head and head ~= entry or comes_back(entry)) then
    if not enough and wanted > total then
        drop_place(entry)
        keep_record()
        if total == without then
            return nonce .. ' 4'
        end
        return nonce .. ' 3 0 0 0 0' .. about_limit()
    end
    local place = waits ~= '0' and keep_place(entry) or ' 0 0 0'
    keep_record()
    if set_now or found > 0 then
        tell_of(free)
    end
    local look, next_end = patience / 4, nil
    if head and head ~= entry then
        -- Whoever may have gone is removed by the next script, which need not wait.
        next_end = heard_until(head) or ms
    else
        next_end = call('ZRANGE', deadlines, '0', '0', 'WITHSCORES')[2]
    end
    if without then
        next_end = math.min(next_end or lost_until, lost_until)
    end
    if next_end then
        look = math.max(math.min(look, next_end - ms + 1), 1)
    end
    return nonce .. string.format(' 0 %.0f', look) .. place .. about_limit()
end

if preflight == '1' and free then
    -- A user without a right fails here, before the first write. INCRBY goes first: a server without memory refuses it. It would make
    -- a number where there is none.
    call('INCRBY', permits, '0')
    call('PTTL', permits)
    call('ZCARD', deadlines)
    call('ZADD', deadlines, 'XX', '0', holder)
    call('ZREM', deadlines, holder)
    call('ZRANGE', queue, '0', '0')
    call('ZRANGEBYSCORE', heard, '0', '0')
    call('ZADD', queue, 'XX', '0', holder)
    call('ZREM', queue, holder)
    call('ZADD', heard, 'XX', '0', holder)
    call('ZREM', heard, holder)
    call('PEXPIRE', heard, string.format('%.0f', 60000 + patience))
    -- Nobody listens there.
    call('PUBLISH', turns .. ':' .. holder, '0')
    call('PUBLISH', channel .. ':' .. holder, '0')
end
local longest_asked, learned = tonumber(lease), ' 1 0 0'
if usual_key then
--#include learned_lease.lua
    learned = ' 1 ' .. told
end

if head then
    -- Before anything that grows: one who waits gets its permits also if the server has no memory.
    drop_place(entry)
end
local count = '1'
-- For one who did not wait the first write: a server without memory refuses it.
--#include take_tokens.lua
if not token then
    return nonce .. ' 2'
end
if total then
    -- Renewals may ask for so much.
    longest = math.max(longest, longest_asked)
    keep_record()
end
if ours then
    raise_own(ends, ms + lease)
    return nonce .. ' 1 ' .. token .. learned .. about_limit()
end
-- A semaphore that somebody gave an end has one altogether.
local life = call('PTTL', permits)
-- Who may do this may give them back.
call('INCRBY', permits, string.format('%.0f', -wanted))
local till, taken = string.format('%.0f', ms + lease), nil
for i = first_id, last_id do
    taken = redis.pcall('ZADD', deadlines, till, ARGV[i])
end
if type(taken) == 'number' and life > 0 then
    taken = redis.pcall('PEXPIRE', deadlines, string.format('%.0f', life))
    if type(taken) ~= 'number' then
        -- Where this is refused, too, they come back when they are over.
        drop_own()
    end
end
if type(taken) ~= 'number' then
    call('INCRBY', permits, string.format('%.0f', wanted))
    return taken
end
if set_now or found > 0 then
    tell_of(free - wanted)
elseif head and free > wanted then
    call_next(free - wanted, false)
end
return nonce .. ' 1 ' .. token .. learned .. about_limit()
