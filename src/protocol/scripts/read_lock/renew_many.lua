-- Extends several holds of ours, as the renewal of one does. What fails for one does not keep the others from being extended.
-- KEYS: for each hold the lock and the key of the hold   ARGV: for each hold the lease in ms and the holder id; nonce
-- Returns the words: nonce, a digit for each hold (1: ours, 0: it is gone, 2: others have the lock, 9: failed), or the first error if all have failed: then
-- the cause may be the server's.
local pcall, said, failure, failures = redis.pcall, {}, nil, 0

-- What was said, or the first error.
local function extend(lock, hold, lease, holder)
    local result = pcall('HEXISTS', lock, holder)
    if result == 0 then
        result = pcall('EXISTS', lock)
        return result == 1 and '2' or result == 0 and '0' or result
    end
    local left = result == 1 and pcall('PTTL', hold) or result
    if left == -2 then
        return '0'
    end
    if type(left) == 'number' and left < lease then
        result = pcall('PEXPIRE', hold, string.format('%.0f', lease))
        left = type(result) == 'number' and lease or result
    end
    local life = type(left) == 'number' and pcall('PTTL', lock) or left
    if type(life) == 'number' and life ~= -1 and life < left then
        life = pcall('PEXPIRE', lock, string.format('%.0f', left))
    end
    return type(life) == 'number' and '1' or life
end

for i = 1, #KEYS / 2 do
    local result = extend(KEYS[2 * i - 1], KEYS[2 * i], tonumber(ARGV[2 * i - 1]), ARGV[2 * i])
    if type(result) == 'table' then
        failure, failures = failure or result, failures + 1
        result = '9'
    end
    said[i] = result
end

if failure and failures == #said then
    return failure
end
return ARGV[#ARGV] .. ' ' .. table.concat(said)
