#include "cli/lock_channels.hpp"

#include "cli/client_access.hpp"
#include "protocol/counting_semaphore.hpp"
#include "protocol/latch.hpp"
#include "protocol/lock.hpp"
#include "protocol/read_write_lock.hpp"
#include "protocol/semaphore.hpp"
#include "protocol/subscription.hpp"
#include "runtime/runtime.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::cli {

std::vector<std::string> channels_of(config const& settings, std::string_view name) {
    auto const& prefix = settings.key_prefix;
    bool const clustered = !settings.cluster_nodes.empty();
    std::vector<std::string> all;
    auto const add = [&all](detail::target const& one) {
        std::string channel{one.channel()};
        if (one.valid() && std::ranges::find(all, channel) == all.end()) {
            all.push_back(std::move(channel));
        }
    };
    add(detail::make_lock_target(prefix, name));
    add(detail::make_write_lock_target(prefix, name));
    add(detail::make_semaphore_target(prefix, name));
    add(detail::make_latch_target(prefix, name, clustered));
    // Nodes of a cluster tell such changes on plain channels, each its own.
    if (!clustered && !all.empty()) {
        all.push_back(fmt::format("__keyspace@{}__:{}{}", settings.database, prefix, name));
    }
    return all;
}

// Looks again whenever messages may have been missed.
class lock_channels::listener final : public detail::subscriber {
public:
    explicit listener(boost::asio::any_io_executor const& executor) : timer_{executor} {}

    void listen(detail::client_context& to, std::vector<std::string> const& channels) {
        for (auto const& channel : channels) {
            subscriptions_.push_back(to.subscribe(channel, *this));
        }
    }

    boost::asio::awaitable<void> wait(lease_clock::time_point latest) {
        if (!woken_) {
            error_code ignored;
            detail::sleep_until(timer_, latest);
            auto sleeping =
                timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
            co_await std::move(sleeping);
        }
        woken_ = false;
    }

    void on_confirmed(bool /*again*/) override { wake(); }
    void on_unconfirmed() override {}
    void on_refused(error_code /*cause*/) override {}
    void on_notification(std::string_view /*message*/) override { wake(); }

private:
    void wake() {
        woken_ = true;
        timer_.cancel();
    }

    detail::timer timer_;
    std::vector<detail::subscription> subscriptions_;
    bool woken_ = false;
};

lock_channels::lock_channels(
    holdfast::client const& by,
    config const& settings,
    std::string_view name
)
    : listener_{std::make_shared<listener>(by.get_executor())} {
    // Behind the start of a client that is new.
    auto const context = client_access::context_of(by);
    std::weak_ptr<listener> const to = listener_;
    context->on_strand([context, to, channels = channels_of(settings, name)] {
        if (auto const there = to.lock()) {
            there->listen(*context, channels);
        }
    });
}

lock_channels::~lock_channels() = default;

boost::asio::awaitable<void> lock_channels::wait(lease_clock::time_point latest) {
    return listener_->wait(latest);
}

}  // namespace holdfast::cli
