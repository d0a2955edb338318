#ifndef HOLDFAST_TEST_UNIT_SCRIPTED_BACKEND_HPP
#define HOLDFAST_TEST_UNIT_SCRIPTED_BACKEND_HPP

#include "protocol/backend.hpp"
#include "protocol/channels.hpp"
#include "protocol/slot.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::test {

/// A backend that writes down what it is asked for, and answers when the test says so. It knows
/// nothing of locks.
class scripted_backend final : public detail::backend {
public:
    struct request {
        detail::call what;
        detail::exec_handler handler;
        /// So many replicas are to have it.
        unsigned replicas = 0;
    };

    explicit scripted_backend(boost::asio::any_io_executor strand) : strand_{std::move(strand)} {}

    void start(detail::backend_events& to) override { events = &to; }
    void stop() override {
        stopped = true;
        listeners->stop();
    }
    void exec(detail::call&& what, detail::exec_handler&& handler) override {
        if (commands_up) {
            requests.push_back({std::move(what), std::move(handler)});
            return;
        }
        boost::asio::post(strand_, [handler = std::move(handler), cause = why.cause]() mutable {
            std::move(handler)(detail::exec_result{detail::exec_status::not_sent, cause, {}});
        });
    }
    void exec_replicated(
        detail::call&& what,
        detail::replication const& wanted,
        detail::replicated_handler&& handler
    ) override {
        auto const before = requests.size();
        exec(
            std::move(what),
            [this, handler = std::move(handler)](detail::exec_result result) mutable {
                bool const replied = result.status == detail::exec_status::replied;
                std::move(handler)(std::move(result), replied ? replicas : 0U);
            }
        );
        if (requests.size() > before) {
            requests.back().replicas = wanted.count;
        }
    }
    detail::subscription subscribe(std::string channel, detail::subscriber& to) override {
        return listeners->add(std::move(channel), to);
    }
    bool up(detail::connection_id::purpose what) const override {
        return what == detail::connection_id::purpose::commands ? commands_up : subscriptions_up;
    }
    obstacle why_down() const override { return why; }
    identity who(std::uint32_t) const override { return {run_id, began_by}; }
    bool clustered() const noexcept override { return is_cluster; }
    /// Of a cluster: server 0 has the first half of the slots, and 1 the second.
    std::optional<std::uint32_t> server_of(std::uint16_t slot) const override {
        return is_cluster && slot >= detail::slot_count / 2 ? 1U : 0U;
    }
    std::optional<lease_clock::time_point> silent_since(std::uint16_t) const override {
        return silent;
    }
    bool reach(std::uint16_t slot) override {
        return commands_up && !out_of_reach.contains(*server_of(slot));
    }

    bool is_cluster = false;
    std::set<std::uint32_t> out_of_reach;
    bool commands_up = true;
    bool subscriptions_up = true;
    std::optional<lease_clock::time_point> silent;
    bool stopped = false;
    /// So many have what was written.
    unsigned replicas = 0;
    obstacle why;
    std::string run_id;
    lease_clock::time_point began_by = lease_clock::time_point::min();
    detail::backend_events* events = nullptr;
    /// What was not answered yet, the oldest first.
    std::deque<request> requests;
    /// "+channel" and "-channel" in the order of the requests.
    std::string subscribed;
    std::shared_ptr<detail::channels> listeners =
        std::make_shared<detail::channels>(detail::channels::actions{
            .subscribe = [this](std::string const& channel) { subscribed += "+" + channel; },
            .unsubscribe = [this](std::string const& channel) { subscribed += "-" + channel; },
            .later = [this](std::function<void()> f) { boost::asio::post(strand_, std::move(f)); },
        });

private:
    boost::asio::any_io_executor strand_;
};

}  // namespace holdfast::test

#endif
