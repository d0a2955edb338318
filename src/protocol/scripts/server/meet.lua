-- Says for how long clients have known the server that this is. A promoted replica, or a server that was started again, has another run
-- id than the one that is written here, and is met for the first time. The key expires 30 days after the last meeting.
-- KEYS: server
-- ARGV: run id; nonce
-- Returns the words: nonce, since when it is known in ms, the server's time in µs

local call, server, run_id, nonce = redis.call, KEYS[1], ARGV[1], ARGV[2]
local now = call('TIME')
local time = now[1] * 1000000 + now[2]
local known = {}
local words = call('HGETALL', server)
for i = 1, #words, 2 do
    known[words[i]] = words[i + 1]
end
local met = tonumber(known.met)
if known.run_id ~= run_id or not met or met > time then
    met = time
    call('HSET', server, 'run_id', run_id, 'met', string.format('%.0f', met))
end
redis.pcall('PEXPIRE', server, '2592000000')
return nonce .. string.format(' %.0f %.0f', math.floor((time - met) / 1000), time)
