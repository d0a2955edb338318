#include "support/bare_lock.hpp"

#include "protocol/lock.hpp"

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

asio::awaitable<void> bare_lock::send(detail::call const& what) {
    nonce_.clear();
    fmt::format_to(std::back_inserter(nonce_), "{:x}", next_number());
    key_count_ = std::to_string(what.keys());
    words_.assign(1, key_count_);
    for (std::size_t i = 0; i < what.size(); ++i) {
        words_.push_back(what.word(i));
    }
    words_.push_back(nonce_);
    co_await caller_.call(what.what().sha1, words_);
}

asio::awaitable<std::uint64_t> bare_lock::acquire() {
    holder_ = {client_id(), next_number()};
    auto const call = target_.speaks->acquire({
        .on = target_,
        .id = holder_,
        .lease = lease_,
        .counter_ttl = counter_ttl,
        .preflight = false,
        .floor = clock_.floor(lease_clock::now()),
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
        clock_.on_granted({token}, lease_clock::now());
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

}  // namespace holdfast::bench
