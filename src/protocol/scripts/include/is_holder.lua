-- A holder's field is `<client id>:<number>`; a transaction of Redisson's appends its own id. A field that ends in `:write` is
-- the writer's of a read/write lock, which is another thing.
local function is_holder(field)
    return (string.find(field, '^.+:%-?%d+$') or string.find(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d+:.+$'))
        and not string.find(field, ':write$')
end
