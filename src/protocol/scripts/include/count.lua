-- The text of a whole number, as Redis counts; zero where there is none. Nothing for another text.
local function count_in(text)
    if not text then
        return '0'
    end
    return (text == '0' or #text <= 19 and string.find(text, '^%-?[1-9]%d*$')) and text
end
