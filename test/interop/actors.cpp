#include "interop/actors.hpp"

#include "interop/java_peer.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::test {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

template <class Lock, class Lease = lease>
class our_actor final : public lock_actor {
public:
    explicit our_actor(Lock on) : lock_{std::move(on)} {}

    awaitable<std::uint64_t> acquire(milliseconds lease) override {
        return take({.lease = lease, .renew = false, .owner = me_});
    }

    awaitable<std::uint64_t> acquire_renewed() override {
        return take({.lease = renewed_lease, .owner = me_});
    }

    awaitable<bool> try_acquire() override {
        acquire_options const options{.owner = me_};
        auto granted = co_await lock_.try_acquire(options, asio::use_awaitable);
        co_return keep(std::move(granted));
    }

    awaitable<bool> try_acquire_for(milliseconds wait) override {
        acquire_options const options{.owner = me_};
        auto granted = co_await lock_.try_acquire_for(wait, options, asio::use_awaitable);
        co_return keep(std::move(granted));
    }

    awaitable<bool> release() override {
        if (held_.empty()) {
            co_return false;
        }
        auto given_back = std::move(held_.back());
        held_.pop_back();
        auto [ec] = co_await given_back.release(as_result);
        if (ec && ec != errc::lease_lost) {
            throw boost::system::system_error{ec, "release"};
        }
        co_return !ec;
    }

    awaitable<bool> holds() override { co_return !held_.empty() && held_.back().valid(); }

    awaitable<bool> force() override {
        if constexpr (is_single) {
            co_return co_await lock_.force_release(asio::use_awaitable);
        } else {
            throw std::logic_error{"several locks are not taken by force"};
        }
    }

    awaitable<view> look() override {
        if constexpr (is_single) {
            auto const info = co_await lock_.inspect(asio::use_awaitable);
            co_return view{info.held, info.remaining.value_or(milliseconds{0})};
        } else {
            throw std::logic_error{"several locks are not looked at"};
        }
    }

private:
    static constexpr bool is_single = std::is_same_v<Lease, lease>;

    awaitable<std::uint64_t> take(acquire_options options) {
        auto granted = co_await lock_.acquire(options, asio::use_awaitable);
        std::uint64_t token = 0;
        if constexpr (is_single) {
            token = granted.token().value;
        }
        keep(std::move(granted));
        co_return token;
    }

    bool keep(Lease granted) {
        if (!granted) {
            return false;
        }
        held_.push_back(std::move(granted));
        return true;
    }

    Lock lock_;
    owner me_ = owner::make();
    std::vector<Lease> held_;
};

class java_actor final : public lock_actor {
public:
    java_actor(java_peer& by, std::string const& primitive, std::string name, bool has_tokens)
        : peer_{by},
          has_tokens_{has_tokens},
          thread_{by.new_thread()},
          primitive_{primitive + "."},
          name_{std::move(name)} {}

    awaitable<std::uint64_t> acquire(milliseconds lease) override {
        // Redisson 4.7.0 ignores the lease of the form that waits without a limit.
        constexpr milliseconds long_enough = std::chrono::hours{1};
        auto const times =
            std::to_string(long_enough.count()) + " " + std::to_string(lease.count());
        auto const given = co_await tell(has_tokens_ ? "tryToken" : "tryFor", times);
        co_return has_tokens_ ? std::stoull(given) : 0;
    }

    awaitable<std::uint64_t> acquire_renewed() override {
        auto const given = co_await tell(has_tokens_ ? "token" : "lock");
        co_return has_tokens_ ? std::stoull(given) : 0;
    }

    awaitable<bool> try_acquire() override { co_return co_await says("try"); }

    awaitable<bool> try_acquire_for(milliseconds wait) override {
        auto const times = std::to_string(wait.count()) + " -1";
        co_return co_await says("tryFor", times);
    }

    awaitable<bool> release() override {
        auto const words = primitive_ + "unlock " + name_;
        auto const given = co_await peer_.ask(thread_, words);
        if (!given.ok && given.text.find("IllegalMonitorStateException") == std::string::npos) {
            throw std::runtime_error{"unlock: " + given.text};
        }
        co_return given.ok;
    }

    awaitable<bool> holds() override { co_return co_await says("isMine"); }

    awaitable<bool> force() override { co_return co_await says("force"); }

    awaitable<view> look() override {
        auto const held = co_await says("isLocked");
        auto const remaining = co_await tell("remaining");
        co_return view{held, milliseconds{held ? std::stoll(remaining) : 0}};
    }

private:
    awaitable<std::string> tell(std::string command, std::string words = {}) {
        return peer_.tell(thread_, primitive_ + command + " " + name_ + " " + words);
    }

    awaitable<bool> says(std::string command, std::string words = {}) {
        auto const said = co_await tell(std::move(command), std::move(words));
        co_return said == "true";
    }

    java_peer& peer_;
    bool has_tokens_;
    std::string thread_;
    std::string primitive_;
    std::string name_;
};

}  // namespace

std::unique_ptr<lock_actor> our_lock_actor(client& by, std::string const& name) {
    return std::make_unique<our_actor<lock>>(by.lock(name));
}

std::unique_ptr<lock_actor> our_fair_lock_actor(client& by, std::string const& name) {
    return std::make_unique<our_actor<fair_lock>>(by.fair_lock(name));
}

std::unique_ptr<lock_actor> our_read_lock_actor(client& by, std::string const& name) {
    return std::make_unique<our_actor<read_lock>>(by.read_write_lock(name).read());
}

std::unique_ptr<lock_actor> our_write_lock_actor(client& by, std::string const& name) {
    return std::make_unique<our_actor<write_lock>>(by.read_write_lock(name).write());
}

std::unique_ptr<lock_actor> our_multi_lock_actor(client& by, std::string const& name) {
    multi_lock const both{by.lock(name), by.lock(second_of(name))};
    return std::make_unique<our_actor<multi_lock, multi_lease>>(both);
}

std::unique_ptr<lock_actor> java_lock_actor(
    java_peer& by,
    std::string const& primitive,
    std::string const& name,
    bool has_tokens
) {
    return std::make_unique<java_actor>(by, primitive, name, has_tokens);
}

}  // namespace holdfast::test
