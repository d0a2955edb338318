#include "support/first_version_peer.hpp"

#include "support/run.hpp"

// Without optimisation GCC does not see that a shift's argument is a constant.
#define BOOST_UUID_NO_SIMD
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <chrono>
#include <sstream>
#include <stdexcept>

namespace holdfast::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Byte for byte: clients of 0.1 and ours share the server's script cache.

std::string const first_version_acquire =
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
)lua";

std::string const first_version_release =
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
)lua";

namespace {

constexpr std::int64_t lease_ms = 30'000;
constexpr std::int64_t counter_ttl_ms = 2'592'000'000;
// No counter has reached that floor: the script looks at the server's clock each time.
constexpr std::int64_t token_floor = 9'007'199'254'740'991;
// How often a key without an expiry is looked at.
constexpr auto poll_interval = 5s;

// What follows the nonce.
std::vector<std::int64_t> numbers_in(redis_value const& reply) {
    if (reply.is_error()) {
        throw std::runtime_error{"a client of version 0.1 was refused: " + reply.text};
    }
    std::istringstream words{reply.as_string()};
    std::string nonce;
    words >> nonce;
    std::vector<std::int64_t> numbers;
    for (std::int64_t one = 0; words >> one;) {
        numbers.push_back(one);
    }
    return numbers;
}

}  // namespace

first_version_peer::first_version_peer(
    std::string const& unix_socket,
    std::string const& name,
    redis_credentials const& who
)
    : commands_{unix_socket, who},
      messages_{unix_socket, who},
      lock_{name},
      counter_{"redisson_lock_token:{" + name + "}"},
      channel_{"redisson_lock__channel:{" + name + "}"},
      client_id_{boost::uuids::to_string(boost::uuids::random_generator{}())} {}

asio::awaitable<std::uint64_t> first_version_peer::acquire() {
    holder_ = client_id_ + ":" + std::to_string(++last_number_);
    for (;;) {
        while (subscribed_ && messages_.next_message(0ms)) {
            // The attempt finds out what they say.
        }
        auto const reply = commands_.cmd(
            "EVAL",
            first_version_acquire,
            2,
            lock_,
            counter_,
            lease_ms,
            holder_,
            counter_ttl_ms,
            token_floor,
            "nonce"
        );
        auto const words = numbers_in(reply);
        if (words.at(0) == 1) {
            co_return static_cast<std::uint64_t>(words.at(1));
        }
        if (words.at(0) == 2) {
            throw std::runtime_error{"a client of version 0.1 found no lock under its key"};
        }
        if (!subscribed_) {
            messages_.subscribe(channel_);
            subscribed_ = true;
            continue;
        }
        auto const remaining = words.at(1);
        auto const look_at =
            steady_clock::now() +
            (remaining < 0 ? poll_interval : std::chrono::milliseconds{remaining + 1});
        while (steady_clock::now() < look_at && !messages_.next_message(0ms)) {
            co_await sleep_for(1ms);
        }
    }
}

void first_version_peer::release() {
    auto const reply =
        commands_.cmd("EVAL", first_version_release, 2, lock_, channel_, holder_, "nonce");
    if (numbers_in(reply).at(0) != 1) {
        throw std::runtime_error{"a client of version 0.1 had lost its lock"};
    }
}

}  // namespace holdfast::test
