-- A writer that has the lock without an end: another tool has left it so. It is removed if it is as it was seen before.
local endless
if writer and remaining == -1 and #readers == 0 and writer ~= ours then
    if writer == orphan and holds_of[writer] == holds then
        call('DEL', lock)
        writer, remaining = nil, -2
        redis.pcall('PUBLISH', channel, '3')
    elseif string.find(holds_of[writer], '^%d+$') then
        endless = ' ' .. holds_of[writer] .. ' ' .. writer
    end
end
