-- The queue has an entry for each client that waits, `<holder id> <ms to claim the lock>`, by the server's time in microseconds. The
-- holder id is the one that the client will have; what is before its last colon is the client's, and names its own channel.
-- The member `turn` is no client. While those that do not queue have their turn its score is less than 0: the time at which it
-- began, and 20 ms. Then it is the last one: the time at which their next turn may begin, and this number, which is greater than
-- the score of any client.
local last_score = 4000000000000000

local function count_waiting()
    return call('ZCOUNT', queue, '0', string.format('%.0f', last_score))
end

-- The number of clients that listen to the lock's channel and do not queue: each that does listens to a second channel, too.
local function count_others()
    local heard = call('PUBSUB', 'NUMSUB', (string.gsub(queue, '^holdfast_queue', 'redisson_lock__channel')),
        (string.gsub(queue, '^holdfast_queue', 'holdfast_waiters')))
    return math.max(heard[2] - heard[4], 0)
end
