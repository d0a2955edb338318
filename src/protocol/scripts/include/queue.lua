-- The queue has an entry for each client that waits, `<holder id> <ms to claim the lock>`, by the server's time in microseconds. The
-- holder id is the one that the client will have; what is before its last colon is the client's, and names its own channel.
-- The member `turn` is no client. While those that do not queue have their turn its score is less than 0, without the sign the time at
-- which the turn ends. Then `turn` is the last one: the time at which their next turn may begin, and `last_score`, which is greater than
-- the score of any client. The last four bits of such a time are not a part of it: so many turns were not used since one was, up to 14;
-- 15: the turn is used.
local last_score, turn_length = 4000000000000000, 20000

local function turn_time(score)
    score = math.abs(score)
    score = score < last_score and score or score - last_score
    return score - score % 16
end

local function unused_turns(score)
    return math.abs(score) % 16
end

local function used_turn(score)
    return string.format('%.0f', score + math.abs(score) % 16 - 15)
end

local function count_waiting()
    return call('ZCOUNT', queue, '0', string.format('%.0f', last_score))
end

-- The number of clients that listen to the lock's channel and do not queue: each that does listens to a second channel, too. A client that
-- listens to the second one alone takes one off. So the second result tells whether there may be one more than are seen: more listen than
-- the `queuing` clients that are known.
local function count_others(queuing)
    local heard = call('PUBSUB', 'NUMSUB', (string.gsub(queue, '^holdfast_queue', 'redisson_lock__channel')),
        (string.gsub(queue, '^holdfast_queue', 'holdfast_waiters')))
    local others = math.max(heard[2] - heard[4], 0)
    return others, others == 0 and heard[2] > queuing
end

-- The longest time between two turns that nobody uses.
local function longest_pause(others)
    return others > 0 and 1000000 or 10000000
end

-- When the next turn may begin, as the score of `turn`: not before those that queue have had the lock for as long as those that do not, in
-- proportion to their numbers. Turns that nobody uses become rare.
local function next_turn(took, waiting, others, unused)
    local pause = took * waiting / math.max(others, 1)
    if unused > 2 then
        pause = math.max(pause, math.min(turn_length * 4 ^ (unused - 2), longest_pause(others)))
    end
    pause = time + pause
    return string.format('%.0f', last_score + pause - pause % 16 + unused)
end
