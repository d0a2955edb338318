-- The history has an element for each leader, and for each further value of one, the newest first: `<number> <term> <change within the
-- term> <holder id> <value>`. Numbers have no gaps. The first one is its term: it is greater than all that were lost.
local function leader_at(index)
    local element = call('LINDEX', history, index)
    local number, term, change, holder = string.match(element or '', '^(%d+) (%d+) (%d+) (%S+) ')
    return element, tonumber(number), tonumber(term), tonumber(change), holder
end
