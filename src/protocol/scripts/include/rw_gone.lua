-- A hold has ended, or a place that others may have waited for. `done` tells those that wait if the lock may be had now; what it does must not keep a user
-- who lacks a right for it from learning that the hold has ended.
local told = 1
local function afterwards(done)
    local said = pcall(function()
        told = done()
    end)
    if not said or type(told) == 'table' then
        told = false
    end
end

-- A place was given up: whoever came later may be the first now. Redisson ignores this message.
local function place_given_up()
    return (writer or call('EXISTS', queue) == 0) and 1 or redis.pcall('PUBLISH', channel, '3')
end
