-- A renewal may be for longer than the grant was. See limit.lua.
local function raise_longest(record, lease)
    local kept = redis.pcall('GET', record)
    if type(kept) == 'string' then
        local before, longest, behind = string.match(kept, '^(%-?%d+ )(%d+)(.*)$')
        if longest and lease > tonumber(longest) then
            redis.pcall('SET', record, before .. string.format('%.0f', lease) .. behind, 'PX', '2592000000')
        end
    end
end
