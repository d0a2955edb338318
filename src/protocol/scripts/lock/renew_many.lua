-- Extends several locks that are ours; never makes one, and never makes a life shorter. What fails for one does not keep the others
-- from being extended.
-- KEYS: locks   ARGV: for each lock the lease in ms and the holder id; nonce
-- Returns the words: nonce, a digit for each lock (1: ours, 0: the key is gone, 2: another holder has it, 9: failed), or the first
-- error if all have failed: then the cause may be the server's.
local pcall, said, failure, failures = redis.pcall, {}, nil, 0

for i, lock in ipairs(KEYS) do
    local lease, holder = ARGV[2 * i - 1], ARGV[2 * i]
    local result = pcall('HEXISTS', lock, holder)
    if result == 1 then
        result = pcall('PTTL', lock)
        if type(result) == 'number' and result < tonumber(lease) then
            result = pcall('PEXPIRE', lock, lease)
        end
        said[i] = '1'
    elseif result == 0 then
        result = pcall('EXISTS', lock)
        said[i] = result == 1 and '2' or '0'
    end
    if type(result) == 'table' then
        said[i], failure, failures = '9', failure or result, failures + 1
    end
end

if failure and failures == #KEYS then
    return failure
end
return ARGV[#ARGV] .. ' ' .. table.concat(said)
