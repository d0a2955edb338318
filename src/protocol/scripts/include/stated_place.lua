-- A waiter that had a place before states it, because it may be lost by now: the server passed it over, lost its data, or its clock stepped
-- ahead. `stated` has the score of that place, by the server's time in µs, for how long the waiter has it, and how long ago it asked for the
-- last time, both in µs by its own clock.

-- The score of a place. Another server may have given the one that is stated, or this one before its clock stepped: it is never greater than
-- a newcomer's, and not much less than the time at which the waiter came by this server's clock.
local function place_of(stated, newest)
    local newcomer = newest and math.max(time, newest + 1) or time
    local score, age = string.match(stated, '^(%d+) (%d+) ')
    if not score then
        return newcomer
    end
    return math.min(newcomer, math.max(tonumber(score), math.floor(time - age * 1.02 - 1000000)))
end
