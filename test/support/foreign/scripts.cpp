#include "support/foreign/scripts.hpp"

#include <openssl/sha.h>

#include <array>
#include <string_view>

namespace holdfast::test::foreign_scripts {

namespace {

// The name that the server gives a script.
std::string sha1_of(std::string_view text) {
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
    ::SHA1(reinterpret_cast<unsigned char const*>(text.data()), text.size(), digest.data());
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (auto const byte : digest) {
        hex += digits[byte >> 4U];
        hex += digits[byte & 15U];
    }
    return hex;
}

foreign_script make(std::string_view text) {
    return {std::string{text}, sha1_of(text)};
}

}  // namespace

// Version 0.1, byte for byte: its clients and ours share the server's script cache.

foreign_script const& first_version_acquire() {
    static auto const script = make(
        R"lua(-- Grants the lock if it is free, or is ours already: an attempt may be repeated, its holder id is never used twice.
-- KEYS: lock, token counter, for a preflight the channel   ARGV: lease in ms, holder id, lifetime of the token counter in ms (0: for ever), floor, nonce
-- Returns the words: nonce, 1, token | nonce, 0, ms to the end of the holder's lease (-1: no end) | nonce, 2: not a lock, or not its counter

local call, lock, counter = redis.call, KEYS[1], KEYS[2]
local lease, holder, counter_ttl, floor, nonce = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local remaining = call('PTTL', lock)
if remaining ~= -2 then
-- A holder's field is `<client id>:<number>`; a transaction of Redisson's appends its own id. A field that ends in `:write` is
-- the writer's of a read/write lock, which is another thing.
local function is_holder(field)
    return (string.find(field, '^.+:%-?%d+$') or string.find(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d+:.+$'))
        and not string.find(field, ':write$')
end
    local ours = false
    for _, field in ipairs(call('HKEYS', lock)) do
        if field == holder then
            ours = true
        elseif not is_holder(field) then
            return nonce .. ' 2'
        end
    end
    if not ours then
        return nonce .. string.format(' 0 %.0f', remaining)
    end
elseif KEYS[3] then
    -- A user without a right fails here, before the first write. None of these does anything to a key that is not there. SET
    -- goes first: a server without memory refuses it.
    call('SET', lock, '', 'XX')
    call('PEXPIRE', lock, lease)
    call('HDEL', lock, holder)
end

-- The token is one more than the last one, or the server's time in microseconds if that is greater: tokens grow also after
-- the counter was lost, expired, was started anew by another client, or came from a replica that had been behind. A counter
-- that has reached the floor was written on this server a moment ago. Nothing of that can have happened since, and the
-- clock need not be looked at. INCR is the first write: a server without memory refuses it.
local number = call('INCR', counter)
-- %d is quick, and wrong for so great a number where Lua's integers have 32 bits. Times have 16 digits, and digits of one
-- length compare as their numbers do.
local token = string.format('%d', number)
if #token ~= 16 or token < floor or number > 9007199254740991 then
    -- Not a counter, or no exact number in Lua: the next token might not be greater.
    if number < 1 or number > 9007199254740991 then
        return nonce .. ' 2'
    end
    local now = call('TIME')
    local time = now[1] * 1000000 + now[2]
    token = string.format('%.0f', math.max(number, time))
    if number == 1 and counter_ttl ~= '0' then
        call('SET', counter, token, 'PX', counter_ttl)
    elseif time > number then
        -- It keeps the expiry, and the lack of one.
        call('SET', counter, token, 'KEEPTTL')
    end
end

call('HSET', lock, holder, '1')
local kept = redis.pcall('PEXPIRE', lock, lease)
if kept ~= 1 then
    call('HDEL', lock, holder)
    return kept
end
return nonce .. ' 1 ' .. token
)lua"
    );
    return script;
}

foreign_script const& first_version_release() {
    static auto const script = make(
        R"lua(-- Removes our field and nothing else; a lock of somebody else's is left alone. The key goes with its last field.
-- KEYS: lock, channel   ARGV: holder id, nonce
-- Returns the words: nonce, 1, 1 if the waiters could be told | nonce, 0, 1 if another holder has it, 0 if the key is gone
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
    return ARGV[2] .. ' 0 ' .. redis.call('EXISTS', KEYS[1])
end
-- The lock is free by now; a user who may not publish must not be told otherwise.
local told = redis.pcall('PUBLISH', KEYS[2], '0')
if type(told) == 'table' then
    return ARGV[2] .. ' 1 0'
end
return ARGV[2] .. ' 1 1'
)lua"
    );
    return script;
}

foreign_script const& first_version_renew() {
    static auto const script = make(R"lua(-- Extends a lock that is ours; never makes one.
-- KEYS: lock   ARGV: lease in ms, holder id, nonce
-- Returns the words: nonce, 1 | nonce, 0, 1 if another holder has it, 0 if the key is gone
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    return ARGV[3] .. ' 1'
end
return ARGV[3] .. ' 0 ' .. redis.call('EXISTS', KEYS[1])
)lua");
    return script;
}

// Redisson: the keys, the order of the commands and the replies are its own, the texts are not.

foreign_script const& redisson_acquire() {
    static auto const script = make(R"lua(-- KEYS: lock   ARGV: lease in ms, holder
-- Returns nothing if it was granted, else ms to the end of the holder's lease (-1: no end).
local is_free = redis.call('EXISTS', KEYS[1]) == 0
if is_free or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
    redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    return nil
end
return redis.call('PTTL', KEYS[1])
)lua");
    return script;
}

foreign_script const& redisson_fenced_acquire() {
    static auto const script = make(R"lua(-- KEYS: lock, token counter   ARGV: lease in ms, holder
-- Returns -1 and the token if it was granted, else ms to the end of the holder's lease and -1.
local is_free = redis.call('EXISTS', KEYS[1]) == 0
if is_free or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
    local token = redis.call('INCR', KEYS[2])
    redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    return {-1, token}
end
return {redis.call('PTTL', KEYS[1]), -1}
)lua");
    return script;
}

foreign_script const& redisson_release() {
    static auto const script = make(
        R"lua(-- KEYS: lock, channel, latch   ARGV: message, lease in ms, holder, publish command, lifetime of the latch in ms
-- Returns 1: free now | 0: the holder has it once less, but still | nothing: not the holder's.
-- The latch remembers the answer, for a repetition.
local answered = redis.call('GET', KEYS[3])
if answered then
    return tonumber(answered)
end
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
    return nil
end
local still = redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0
if still then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
    redis.call('DEL', KEYS[1])
    redis.call(ARGV[4], KEYS[2], ARGV[1])
end
local answer = still and 0 or 1
redis.call('SET', KEYS[3], answer, 'PX', ARGV[5])
return answer
)lua"
    );
    return script;
}

foreign_script const& redisson_renew() {
    static auto const script =
        make(R"lua(-- KEYS: locks   ARGV: lease in ms, the holder of each lock
-- Returns for each lock 1, or 0 if it is not the holder's any more.
local renewed = {}
for i, lock in ipairs(KEYS) do
    renewed[i] = redis.call('HEXISTS', lock, ARGV[i + 1])
    if renewed[i] == 1 then
        redis.call('PEXPIRE', lock, ARGV[1])
    end
end
return renewed
)lua");
    return script;
}

}  // namespace holdfast::test::foreign_scripts
