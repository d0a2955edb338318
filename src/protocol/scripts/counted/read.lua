-- Says which number is under a name.
-- KEYS: number   ARGV: nonce
-- Returns the words: nonce, 1, the number (0: there is none) | nonce, 2: not a number
--#include count.lua

local count = count_in(redis.call('GET', KEYS[1]))
return ARGV[1] .. (count and ' 1 ' .. count or ' 2')
