-- Says which node of a cluster has which slots.
-- KEYS: none   ARGV: nonce
-- Returns the words: nonce, for each range of slots the first and the last one, the host of its primary (-: the same as this node's)
--   and its port
-- CLUSTER SLOTS tells the port that the connection's kind needs, with TLS or without; CLUSTER SHARDS, which Redis 7 has, tells both.
local said = {ARGV[1]}
for _, range in ipairs(redis.call('CLUSTER', 'SLOTS')) do
    local host, port = range[3][1], range[3][2]
    local known = type(host) == 'string' and host ~= '' and host ~= '?'
    said[#said + 1] = string.format('%d %d %s %d', range[1], range[2], known and host or '-', port)
end
return table.concat(said, ' ')
