-- The leader's key holds `<term> <number of the value within the term> <holder id> <value>`, as the last leader proclaimed it.
local text = call('GET', leader)
local term, change, holder = string.match(text or '', '^(%d+) (%d+) (%S+) ')
