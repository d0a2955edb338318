-- The answer to an attempt that is refused: `life` is how long the holders have the lock yet, in ms (-1: no end); none if only those that came before are
-- in the way. One that waits keeps its place, and has to be heard of again.
local function refuse(life)
    local ask_again, place = more_gone and 1 or patience / 4, waits ~= '0' and keep_place(entry)
    if life and life >= endless_hold then
        life = -1
    elseif life and life >= 0 then
        ask_again = place and math.min(life, ask_again) or life
    end
    return nonce .. string.format(' 0 %.0f', ask_again) .. (life == -1 and ' 1' or ' 0') .. (place or ' 0 0 0')
end
