-- Says how many permits there are, and writes nothing.
-- KEYS: permits, deadlines, queue, heard   ARGV: nonce
-- Returns the words: nonce, 1 (0: nobody has said how many there are), how many are free, how many are taken, how many wait | nonce, 2:
-- not a semaphore

local call, permits, deadlines, queue, heard = redis.call, unpack(KEYS)
local nonce = ARGV[1]
local kept = call('GET', permits)
if kept and not string.match(kept, '^%-?%d+$') then
    return nonce .. ' 2'
end
local now = call('TIME')
local ms = string.format('%.0f', math.floor((now[1] * 1000000 + now[2]) / 1000))
-- They come back as soon as somebody asks for one.
local over = call('ZCOUNT', deadlines, '0', ms)
local free = kept and kept + over or 0
return nonce .. (kept and ' 1' or ' 0') .. string.format(
    ' %.0f %.0f %.0f',
    free,
    call('ZCARD', deadlines) - over,
    math.min(call('ZCARD', queue), call('ZCOUNT', heard, '(' .. ms, '+inf'))
)
