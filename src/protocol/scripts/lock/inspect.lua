-- Says who has the lock.
-- KEYS: lock, token counter, with hand-over the queue   ARGV: nonce
-- Returns the words: nonce, ms to its end (-1: no end, -2: free), token (0: none), the number of clients in the queue, how often the holder
-- has it, holder id, which may have spaces | nonce, -3: not a lock

local call, queue = redis.call, KEYS[3]
--#include queue.lua

local function count_queued()
    return queue and count_waiting() or 0
end
--#include lock_state.lua
