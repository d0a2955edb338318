-- Removes the marks of requests that will not come again.
-- KEYS: marks   ARGV: nonce
-- Returns the word: nonce
redis.call('DEL', unpack(KEYS))
return ARGV[1]
