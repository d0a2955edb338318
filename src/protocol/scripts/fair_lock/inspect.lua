-- Says who has the lock.
-- KEYS: lock, token counter, queue   ARGV: nonce
-- Returns the words: nonce, ms to its end (-1: no end, -2: free), token (0: none), the number of those in the queue, how often the holder
-- has it, holder id, which may have spaces | nonce, -3: not a lock
local call, queue = redis.call, KEYS[3]

local function count_queued()
    return call('LLEN', queue)
end
--#include lock_state.lua
