-- Grants permits if so many are free and nobody came before, or if they are ours already: an attempt may be repeated, its permits have
-- ids of their own. One that is refused and waits keeps its place in the queue, or takes one.
-- KEYS: permits, deadlines, channel, token counter, queue, heard, channel of the turns, for a learned lease the usual hold
-- ARGV: how many, holder id, lease in ms, lifetime of the token counter in ms (0: for ever), floor, 1: waits, ms that a silent waiter is
--   waited for, 1: preflight, for a learned lease the shortest one in ms, and how many usual holds it covers; the ids; nonce
-- Returns the words: nonce, 1, token, for a learned lease 1, the lease in ms and the usual hold in µs (0: not known, -1: not allowed to know)
--   | nonce, 0, ms after which to ask again, its place in the queue (when it came and the server's time, in µs, and 0; three zeros
--   without one) | nonce, 2: not a semaphore, or not its counter | nonce, 3: there are not so many

local call, permits, deadlines, channel, counter, queue, heard, turns = redis.call, unpack(KEYS)
local wanted, holder, lease, counter_ttl, floor, waits, patience, preflight, shortest, times = unpack(ARGV)
local nonce, usual_key = ARGV[#ARGV], KEYS[8]
local first_id, last_id = math.max(#ARGV - wanted, 1), #ARGV - 1
local entry = wanted .. ' ' .. holder
wanted, patience = tonumber(wanted), tonumber(patience)

local now = call('TIME')
local time = now[1] * 1000000 + now[2]
local ms = math.floor(time / 1000)
--#include kept_places.lua
--#include permits.lua
--#include own_permits.lua

local free, ends = count_free(), {}
if free == nil then
    return nonce .. ' 2'
end
local own = count_own(ends)
local ours = own == wanted
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
local enough = free and free >= wanted
local head = not ours and first_place()

if not ours and (not enough or head and head ~= entry) then
    if free and not enough and wanted > free + call('ZCARD', deadlines) then
        drop_place(entry)
        return nonce .. ' 3'
    end
    local place = waits == '1' and keep_place(entry) or ' 0 0 0'
    local look, next_end = patience / 4, nil
    if head and head ~= entry then
        next_end = call('ZSCORE', heard, head)
    elseif free then
        next_end = call('ZRANGE', deadlines, '0', '0', 'WITHSCORES')[2]
    end
    if next_end then
        look = math.max(math.min(look, next_end - ms + 1), 1)
    end
    return nonce .. string.format(' 0 %.0f', look) .. place
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
local learned = ''
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
if ours then
    raise_own(ends, ms + lease)
    return nonce .. ' 1 ' .. token .. learned
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
if head and free > wanted then
    call_next(free - wanted, false)
end
return nonce .. ' 1 ' .. token .. learned
