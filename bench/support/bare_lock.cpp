#include "support/bare_lock.hpp"

#include "protocol/lock.hpp"
#include "protocol/multi_lock.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <iterator>
#include <utility>

namespace holdfast::bench {

namespace {

// As long as the library's numbers.
std::uint64_t next_number() {
    static std::uint64_t number = 0x1000'0000'0000'0000U;
    return ++number;
}

// Two processes are two holders.
std::string const& client_id() {
    static auto const id = fmt::format("6ba7b810-9dad-11d1-80b4-{:012x}", ::getpid());
    return id;
}

constexpr std::chrono::hours counter_ttl{24 * 30};
constexpr std::chrono::nanoseconds no_timeout{0};  // nobody looks at it

}  // namespace

bare_lock::bare_lock(bare_connection& on, std::string_view name, std::chrono::milliseconds lease)
    : bare_lock{on, detail::make_lock_target({}, name), lease} {}

bare_lock::bare_lock(bare_connection& on, detail::target target, std::chrono::milliseconds lease)
    : caller_{on},
      target_{std::move(target)},
      lease_{lease},
      holder_{client_id(), next_number()} {}

bare_lock::bare_lock(bare_connection& on, std::string_view name, detail::script_dialect spoken)
    : bare_lock{on, name} {
    dialect_ = spoken;
}

asio::awaitable<void> bare_lock::send(detail::call const& what) {
    nonce_.clear();
    fmt::format_to(std::back_inserter(nonce_), "{:x}", next_number());
    key_count_ = std::to_string(what.keys());
    words_.assign(1, key_count_);
    for (std::size_t i = 0; i < what.size(); ++i) {
        words_.push_back(what.word(i));
    }
    words_.push_back(nonce_);
    co_await caller_.call(what.what().in(dialect_).sha1, words_);
}

asio::awaitable<std::uint64_t> bare_lock::acquire() {
    holder_ = {client_id(), next_number()};
    auto const call = target_.speaks->acquire({
        .on = target_,
        .id = holder_,
        .lease = lease_,
        .counter_ttl = counter_ttl,
        .preflight = false,
        .timeout = no_timeout,
        .hand_over = true,
    });
    co_await send(call);
    std::uint64_t token = 0;
    auto const reply = caller_.reply();
    constexpr std::string_view granted = " 1 ";
    if (auto const at = reply.find(granted); at != reply.npos) {
        auto const text = reply.substr(at + granted.size());
        std::from_chars(text.data(), text.data() + text.size(), token);
    }
    co_return token;
}

asio::awaitable<void> bare_lock::renew() {
    auto const call =
        target_.speaks->renew({.on = target_, .id = holder_, .lease = lease_, .timeout = no_timeout}
        );
    co_await send(call);
}

asio::awaitable<void> bare_lock::release() {
    auto const call = target_.speaks->release({
        .on = target_,
        .id = holder_,
        .timeout = no_timeout,
        .hand_over = true,
        .counter_ttl = counter_ttl,
    });
    co_await send(call);
}

bare_locks::bare_locks(bare_connection& on, std::string_view first, std::string_view second)
    : caller_{on},
      targets_{detail::make_lock_target({}, first), detail::make_lock_target({}, second)},
      holders_{
          detail::holder_id{client_id(), next_number()},
          detail::holder_id{client_id(), next_number()}
      } {}

namespace {

// The words behind EVALSHA and the script. What they view lives as long as the others.
bare_caller::command command_of(
    detail::call const& what,
    std::string const& key_count,
    std::string const& nonce
) {
    bare_caller::command made{what.what().sha1, {key_count}};
    for (std::size_t i = 0; i < what.size(); ++i) {
        made.words.push_back(what.word(i));
    }
    made.words.push_back(nonce);
    return made;
}

}  // namespace

asio::awaitable<void> bare_locks::acquire() {
    std::vector<detail::primitive::attempt> asked;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        holders_[i] = {client_id(), next_number()};
        asked.push_back({
            .on = targets_[i],
            .id = holders_[i],
            .lease = std::chrono::seconds{30},
            .counter_ttl = counter_ttl,
            .timeout = no_timeout,
            .hand_over = true,
        });
    }
    auto const call = detail::acquire_together(asked);
    auto const keys = std::to_string(call.keys());
    auto const nonce = fmt::format("{:x}", next_number());
    std::array const commands{command_of(call, keys, nonce)};
    co_await caller_.call_all(commands);
}

asio::awaitable<void> bare_locks::release() {
    std::vector<detail::call> calls;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        calls.push_back(detail::lock_protocol().release({
            .on = targets_[i],
            .id = holders_[i],
            .timeout = no_timeout,
            .hand_over = true,
            .counter_ttl = counter_ttl,
        }));
    }
    auto const keys = std::to_string(calls.front().keys());
    auto const nonce = fmt::format("{:x}", next_number());
    std::array const commands{
        command_of(calls[0], keys, nonce),
        command_of(calls[1], keys, nonce),
    };
    co_await caller_.call_all(commands);
}

}  // namespace holdfast::bench
