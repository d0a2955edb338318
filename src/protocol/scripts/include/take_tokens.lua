-- Takes `count` tokens from the counter. The first is one more than the last one of all, or the server's time in microseconds if
-- that is greater: tokens grow also after the counter was lost, expired, was started anew by another client, or came from a
-- replica that had been behind. `token` is the first one; nothing if the key is not a counter.
local last = count == '1' and call('INCR', counter) or call('INCRBY', counter, count)
local first, token = count == '1' and last or last - count + 1, nil
-- Not a counter, or no exact number in Lua: the next token might not be greater.
if first >= 1 and last <= 9007199254740991 then
    if not time then
        local now = call('TIME')
        time = now[1] * 1000000 + now[2]
    end
    -- mutant: stale-counter-continued
    local greatest = math.max(first, time)
    -- %d is quick, and wrong for so great a number where Lua's integers have 32 bits: then its text is shorter.
    token = string.format('%d', greatest)
    -- mutant: token-loses-digits
    if #token ~= 16 then
        token = string.format('%.0f', greatest)
    end
    local newest = count == '1' and token or string.format('%.0f', greatest + count - 1)
    if first == 1 and counter_ttl ~= '0' then
        call('SET', counter, newest, 'PX', counter_ttl)
    elseif time > first then
        -- It keeps the expiry, and the lack of one.
        call('SET', counter, newest, 'KEEPTTL')
    end
end
