-- Takes `count` tokens from the counter. The first is one more than the last one of all, or the server's time in microseconds if
-- that is greater: tokens grow also after the counter was lost, expired, was started anew by another client, or came from a
-- replica that had been behind. A counter that has reached the floor was written on this server a moment ago. Nothing of that
-- can have happened since, and the clock need not be looked at. `token` is the first one; nothing if the key is not a counter.
local last = count == '1' and call('INCR', counter) or call('INCRBY', counter, count)
local first = count == '1' and last or last - count + 1
-- %d is quick, and wrong for so great a number where Lua's integers have 32 bits. Times have 16 digits, and digits of one length
-- compare as their numbers do.
local token = string.format('%d', first)
if #token ~= 16 or token < floor or last > 9007199254740991 then
    -- Not a counter, or no exact number in Lua: the next token might not be greater.
    if first < 1 or last > 9007199254740991 then
        token = nil
    else
        if not time then
            local now = call('TIME')
            time = now[1] * 1000000 + now[2]
        end
        token = string.format('%.0f', math.max(first, time))
        local newest = string.format('%.0f', math.max(first, time) + count - 1)
        if first == 1 and counter_ttl ~= '0' then
            call('SET', counter, newest, 'PX', counter_ttl)
        elseif time > first then
            -- It keeps the expiry, and the lack of one.
            call('SET', counter, newest, 'KEEPTTL')
        end
    end
end
