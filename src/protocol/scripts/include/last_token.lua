-- The last token that was taken, and its text; 0 and false where there is none. Nothing if the key is not a counter, or its number is
-- not exact in Lua.
local function last_token()
    local kept = redis.pcall('GET', counter)
    if not kept then
        return 0, false
    end
    local last = type(kept) == 'string' and string.find(kept, '^%d+$') and tonumber(kept)
    if last and last < 9007199254740991 then
        return last, kept
    end
end

-- A counter that is there keeps its expiry, and the lack of one.
local function keep_token(token, kept)
    local text = string.format('%.0f', token)
    if kept then
        call('SET', counter, text, 'KEEPTTL')
    elseif counter_ttl ~= '0' then
        call('SET', counter, text, 'PX', counter_ttl)
    else
        call('SET', counter, text)
    end
    return text
end
