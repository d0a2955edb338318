-- Grants several locks if all of them can be had at once, else none. What is ours already counts as free: an attempt may be
-- repeated, its holder ids are never used for others. Nobody is passed over: a lock that others wait for in its queue is refused.
-- KEYS: for each lock the lock, its token counter, with hand-over its queue
-- ARGV: lease in ms, lifetime of the token counters in ms (0: for ever); for each lock the holder id; nonce
-- Returns the words: nonce, 1, for each lock its token
--   | nonce, 0, number (from 0) of the first lock that is refused | nonce, 2, number of one that is not a lock, or not its counter

local call = redis.call
local lease, counter_ttl = unpack(ARGV)
local nonce, locks = ARGV[#ARGV], #ARGV - 3
local each = #KEYS / locks
local ours = {}

local function about(i, said)
    return nonce .. said .. string.format('%d', i - 1)
end

for i = 1, locks do
    local first = (i - 1) * each + 1
    local lock, queue = KEYS[first], each == 3 and KEYS[first + 2]
    if call('EXISTS', lock, queue or lock) ~= 0 then
--#include is_holder.lua
        local fields = call('HKEYS', lock)
        for _, field in ipairs(fields) do
            if not is_holder(field) then
                return about(i, ' 2 ')
            end
            ours[i] = ours[i] or field == ARGV[i + 2]
        end
        -- mutant: multi-takes-what-others-hold
        if #fields > 0 and not ours[i] then
            return about(i, ' 0 ')
        end
        -- Clients that died leave their places behind, and the turn of those that do not queue. On a cluster, their channels are named after
        -- the second key: that of this lock.
        local KEYS = {lock, KEYS[first + 1]}
        for _, entry in ipairs(#fields == 0 and queue and redis.pcall('ZRANGE', queue, '0', '63') or {}) do
            local client = string.match(entry, '^(.+):%d+ %d+$')
            if client and call('PUBSUB', 'NUMSUB', 'holdfast_client:' .. client)[2] > 0 then
                return about(i, ' 0 ')
            end
        end
    end
end

-- The first write: a server without memory refuses it.
local tokens, count, time = {}, '1', nil
for i = 1, locks do
    local counter = KEYS[(i - 1) * each + 2]
--#include take_tokens.lua
    if not token then
        return about(i, ' 2 ')
    end
    tokens[i] = token
end

for i = 1, locks do
    local lock = KEYS[(i - 1) * each + 1]
    local kept = redis.pcall('HSET', lock, ARGV[i + 2], '1')
    if type(kept) == 'number' then
        local longer = ours[i] and call('PTTL', lock) >= tonumber(lease)
        kept = longer and 1 or redis.pcall('PEXPIRE', lock, lease)
    end
    if kept ~= 1 then
        for j = 1, i do
            if not ours[j] then
                redis.pcall('HDEL', KEYS[(j - 1) * each + 1], ARGV[j + 2])
            end
        end
        return kept
    end
end
return nonce .. ' 1 ' .. table.concat(tokens, ' ')
