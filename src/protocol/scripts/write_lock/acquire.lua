-- Grants the lock to a writer if nobody has it, and nobody waits that came before. An attempt may be repeated, its holder id is never used for another. One that is
-- refused and waits keeps its place among those that wait, or takes one.
-- KEYS: lock, token counter, queue, times until which those in it are waited for, channel, for a learned lease the usual hold
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
--   | nonce, 0, ms after which to ask again, 1 if the lock has no end, with a place in the queue its number, the server's time in µs, and 0 (else three
--   zeros)
--   | nonce, 2: not a read/write lock, or not its counter

local call, lock, counter, queue, heard, channel = redis.call, unpack(KEYS)
local lease, holder, counter_ttl, waits, patience, preflight, shortest, times, nonce = unpack(ARGV)
local usual_key = KEYS[6]
local tag, entry, ours = string.sub(channel, 17), 'w ' .. holder, holder .. ':write'
patience = tonumber(patience)

local now = call('TIME')
local time = now[1] * 1000000 + now[2]
local ms = math.floor(time / 1000)
--#include rw_state.lua
--#include kept_places.lua
--#include rw_refuse.lua

if not look() then
    return nonce .. ' 2'
end
local remaining = call('PTTL', lock)
local queued = call('EXISTS', queue) == 1
if queued then
    drop_silent()
end
if writer ~= ours then
    if writer then
        return refuse(remaining)
    end
    local longest = longest_reader()
    if longest > 0 then
        return refuse(longest)
    elseif #readers > 0 then
        call('DEL', lock)
        remaining = -2
    end
    if queued and first_before(entry, '^') or comes_back(entry) then
        return refuse()
    end
end

if preflight == '1' and remaining == -2 then
    -- A user without a right fails here, before the first write. SET goes first: a server without memory refuses it.
    call('SET', lock, '', 'XX')
    call('PEXPIRE', lock, lease)
    call('HEXISTS', lock, holder)
    call('HDEL', lock, holder)
    call('DEL', lock)
    call('ZREM', heard, entry)
    call('ZREM', queue, entry)
end
local learned = ''
if usual_key then
--#include learned_lease.lua
    learned = ' 1 ' .. told
end

if queued then
    -- Before anything that grows: one who waits gets the lock also if the server has no memory.
    drop_place(entry)
end
local count = '1'
-- For one who did not wait the first write: a server without memory refuses it.
--#include take_tokens.lua
if not token then
    return nonce .. ' 2'
end
call('HSET', lock, 'mode', 'write', ours, '1')
if remaining < tonumber(lease) then
    local kept = redis.pcall('PEXPIRE', lock, lease)
    if kept ~= 1 then
        -- One that was ours before keeps its end.
        if remaining == -2 then
            call('DEL', lock)
        end
        return kept
    end
end
return nonce .. ' 1 ' .. token .. learned
