-- Removes our field and nothing else; a lock of somebody else's is left alone. The key goes with its last field. A lock that is free
-- goes to the first client that waits for it.
-- KEYS: lock, channel, with hand-over the queue and the token counter, after learned leases the usual hold as the last one. A key that is
--   not needed is left out: the server checks that the user may use it.
-- ARGV, each in its place:
--   1 holder id
--   2 our entry in the queue, to be removed (or nothing)
--   3 our next entry (or nothing)
--   4 lifetime of the token counter in ms (0: for ever)
--   5 1: the lock may be given to nobody
--   6 how many holds with learned leases have ended
--   7 their mean in µs
--   8 nonce
-- Returns the words: nonce, 1, 1 if the waiters could be told, with a next entry its score, the server's time in µs, and 0 if it
--   is known to be the first one (without one three zeros), and if the lock went to another client: its entry
--   | nonce, 0, 1 if another holder has it, 0 if the key is gone, with the same further words if it was free and has been given away

local call, lock, channel, queue, counter = redis.call, KEYS[1], KEYS[2], KEYS[4] and KEYS[3], KEYS[4]
local holder, old_entry, next_entry, counter_ttl, held_back, holds, mean, nonce = unpack(ARGV)

if queue and old_entry ~= '' then
    -- mutant: place-is-not-given-up
    call('ZREM', queue, old_entry)
    local heads = call('ZRANGE', queue, '0', '1')
    if heads[1] == 'turn' and not heads[2] then
        call('DEL', queue)
    end
end
if held_back == '1' then
    -- The rest of the script gives the lock to nobody, as if there were no queue.
    queue = nil
end
-- mutant: release-without-an-owner-check
local ours = call('HDEL', lock, holder) == 1
-- If one of them is there, the queue tells which.
local there = queue and call('EXISTS', lock, queue)
local heads = there == 1 and redis.pcall('ZRANGE', queue, '0', '1')
local place, entry, refused
if there == 0 and next_entry ~= '' or heads and heads[1] then
    -- The lock is free by now. A user who lacks a right for the rest must not be told otherwise. The function is handed what it uses:
    -- Lua makes an object of each variable that a function shares with the one around it.
    local function go_on(call, lock, channel, queue, counter, next_entry, counter_ttl, ours, heads)
        local now = call('TIME')
        local time = now[1] * 1000000 + now[2]
        local place, ahead = '', ''
        if next_entry ~= '' then
--#include enqueue.lua
            place = enqueue(next_entry, '0', tonumber(string.match(next_entry, '%d+$'))) or ''
            -- Unless it is seen to be the first one.
            ahead = place ~= '' and '1' or ''
            heads = nil
        end
        if ours then
--#include queue.lua
            -- Clients that do not queue have their share of turns.
            local waiting = count_waiting()
            local beside, doubt = 0, false
            if waiting > 0 then
                beside, doubt = count_others(place == '' and waiting + 1 or waiting)
            end
            -- mutant: others-get-no-turn
            if beside > 0 or doubt then
                local turn = call('ZSCORE', queue, 'turn')
                -- One that is farther ahead than it can be was written before the server's clock stepped back.
                local left = turn and turn_time(turn) - time
                if not turn then
                    -- Whoever takes the lock when it is free needs no turn if there are not always others that wait. Where queues empty
                    -- often, nobody knows how many turns were not used: a first turn after so long costs less than a twentieth, and if
                    -- it is not used, the next one comes after the longest pause.
                    call('ZADD', queue, next_turn(400000, math.max(beside, 1), beside, doubt and 14 or 4), 'turn')
                elseif left <= 0 or left > longest_pause(beside) * math.max(waiting / math.max(beside, 1), 1) then
                    local ends = time + turn_length
                    call('ZADD', queue, string.format('%.0f', -(ends - ends % 16 + unused_turns(turn) % 15)), 'turn')
                    redis.pcall('PUBLISH', channel, '2')
                    return place .. ahead
                end
            end
        end
        local own
--#include hand_over.lua
        if place ~= '' and after == next_entry then
            ahead = '0'
        end
        return place .. ahead, given, refused
    end
    local done, its_place, given, not_told =
        pcall(go_on, call, lock, channel, queue, counter, next_entry, counter_ttl, ours, heads)
    if done then
        place, entry, refused = its_place ~= '' and its_place, given, not_told
    end
end
if holds ~= '0' and ours then
--#include usual_hold.lua
    local key = KEYS[#KEYS]
    local usual, why = usual_hold(key)
    if not why then
        keep_usual_hold(key, and_then(usual, holds, mean))
    end
end
if entry then
    return nonce .. (ours and ' 1 1' or ' 0 0') .. (place or ' 0 0 0') .. ' ' .. entry
end
-- mutant: release-frees-the-successor
if not ours then
    return nonce .. ' 0 ' .. call('EXISTS', lock)
end
-- mutant: release-without-a-notification
local told = redis.pcall('PUBLISH', channel, '0')
-- PUBLISH returns the number of listeners, or an error. Most locks have no listener, and `type` is not called for them.
local answer = nonce .. (not refused and (told == 0 or type(told) == 'number') and ' 1 1' or ' 1 0')
return place and answer .. place or answer
