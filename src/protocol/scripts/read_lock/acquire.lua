-- Grants a hold to a reader if no writer has the lock, and no writer waits that came before; or to an owner that has the lock as a writer. An attempt may be
-- repeated, its holder id is never used for another. One that is refused and waits keeps its place among those that wait, or takes one.
-- KEYS: lock, token counter, queue, times until which those in it are waited for, channel, the key of our hold, for a learned lease the usual hold
-- ARGV, each in its place:
--   1 lease in ms
--   2 holder id
--   3 lifetime of the token counter in ms (0: for ever)
--   4 0: does not wait, 1: waits, or the place that it had
--   5 ms that a silent waiter is waited for
--   6 1: preflight
--   7 the holder id of the owner as a writer (or nothing)
--   8 for a learned lease the shortest one in ms (else 0)
--   9 how many usual holds it covers
--   10 nonce
-- Returns the words: nonce, 1, token, 1, for a learned lease the lease in ms and the usual hold in µs (0: not known, -1: not allowed to know), else two zeros,
--   1 if somebody waits
--   | nonce, 0, ms after which to ask again, 1 if the lock has no end, with a place in the queue its number, the server's time in µs, and 0 (else three
--   zeros)
--   | nonce, 2: not a read/write lock, or not its counter

local call, lock, counter, queue, heard, channel, hold = redis.call, unpack(KEYS)
local lease, holder, counter_ttl, waits, patience, preflight, beside, shortest, times, nonce = unpack(ARGV)
local usual_key = KEYS[7]
local tag, entry = string.sub(channel, 17), 'r ' .. holder
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
local remaining, ours = call('PTTL', lock), beside .. ':write'
local queued = call('EXISTS', queue) == 1
if queued then
    drop_silent()
end
-- Its field stays for as long as others read.
local again = holds_of[holder] and call('PTTL', hold) ~= -2
if not again then
    if writer and writer ~= ours then
        return refuse(remaining)
    -- mutant: reader-passes-a-waiting-writer
    elseif not writer and (queued and first_before(entry, '^w') or comes_back(entry)) then
        return refuse()
    end
end

if preflight == '1' and remaining == -2 then
    -- A user without a right fails here, before the first write. SET goes first: a server without memory refuses it.
    call('SET', hold, '', 'XX')
    call('PTTL', hold)
    call('PEXPIRE', lock, lease)
    call('HEXISTS', lock, holder)
    call('HDEL', lock, holder)
    call('DEL', hold)
    call('ZREM', heard, entry)
    call('ZREM', queue, entry)
end
local learned = ' 0 0 '
if usual_key then
--#include learned_lease.lua
    learned = ' ' .. told .. ' '
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
if call('PTTL', hold) < tonumber(lease) then
    call('SET', hold, '1', 'PX', lease)
end
if writer then
    call('HSET', lock, holder, '1')
else
    call('HSET', lock, 'mode', 'read', holder, '1')
end
if remaining < tonumber(lease) then
    -- One without an end gets one that covers all.
    local life = remaining == -1 and not writer and math.max(lease, longest_reader()) or lease
    local kept = redis.pcall('PEXPIRE', lock, string.format('%.0f', life))
    if kept ~= 1 then
        -- One that was ours before keeps its end.
        if remaining == -2 then
            call('DEL', lock, hold)
        elseif not holds_of[holder] then
            call('HDEL', lock, holder)
            call('DEL', hold)
        end
        return kept
    end
end
return nonce .. ' 1 ' .. token .. ' 1' .. learned .. call('EXISTS', queue)
