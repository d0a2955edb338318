-- How long a learned lease is. `told` are the words for the client: the lease, and how long the lock is usually held, or 0 if that is
-- not known, or -1 if the user may not look.
--#include usual_hold.lua
local usual, why = usual_hold(usual_key)
if usual then
    lease = covering(usual, times, shortest, lease)
end
local unknown = why and not string.find(why, 'WRONGTYPE') and '-1' or '0'
local told = lease .. ' ' .. (usual and string.format('%.0f', usual) or unknown)
