#ifndef HOLDFAST_TEST_UNIT_SCRIPTED_CLIENT_HPP
#define HOLDFAST_TEST_UNIT_SCRIPTED_CLIENT_HPP

#include "client/client_state.hpp"
#include "core/lease_terms.hpp"
#include "protocol/lock.hpp"
#include "runtime/virtual_time.hpp"
#include "support/log_lines.hpp"
#include "unit/calls.hpp"
#include "unit/ready_handlers.hpp"
#include "unit/scripted_backend.hpp"

#include <holdfast/detail/acquire.hpp>
#include <holdfast/lease_clock.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::test {

// What a scripted server answers.
template <class... Words>
detail::exec_result replied(Words const&... words) {
    return {detail::exec_status::replied, {}, reply_of(words...)};
}
inline detail::exec_result granted(std::int64_t token = 1) {
    return replied(1, token);
}
inline detail::exec_result busy(std::int64_t remaining = 30'000) {
    return replied(0, remaining);
}
inline detail::exec_result freed() {
    return replied(1, 1);
}
inline detail::exec_result failed(
    error_code cause,
    detail::exec_status how = detail::exec_status::failed
) {
    return {how, cause, {}};
}
inline detail::exec_result unanswered() {
    return {detail::exec_status::unknown, errc::unreachable, {}};
}

/// A whole client on a scripted backend, and the context that it runs on.
class scripted_client {
public:
    using purpose = detail::connection_id::purpose;

    /// Without hand-over, unless a test is about that.
    explicit scripted_client(config settings = {}, bool connected = true, bool hands_over = false) {
        settings.hand_over = hands_over;
        settings.log = log.sink();
        state = detail::client_state::make(
            context.get_executor(),
            std::move(settings),
            [&](asio::any_io_executor strand, auto const& with, auto const&) {
                auto made = std::make_unique<scripted_backend>(std::move(strand));
                server = made.get();
                server->is_cluster = !with->cluster_nodes.empty();
                server->commands_up = server->subscriptions_up = connected;
                return made;
            }
        );
        run();
    }

    /// Runs what is ready.
    void run() {
        // No two steps of a test are at one instant.
        detail::virtual_time::move_to(lease_clock::now() + std::chrono::microseconds{1});
        run_ready(context);
    }
    /// Lets time pass to the next timer that is due by then. @returns whether there was one; if
    /// not, it is that time.
    static bool pass_to_timer(lease_clock::time_point by) {
        auto const next = detail::virtual_time::take_next(by);
        detail::virtual_time::move_to(next.value_or(by));
        return next.has_value();
    }
    /// Lets time pass, and runs what is due.
    void pass(std::chrono::nanoseconds how_long) {
        auto const end = lease_clock::now() + how_long;
        run();
        while (pass_to_timer(end)) {
            run();
        }
        run();
    }
    /// Runs until something holds, for a timer; false if it does not in the next minute.
    bool eventually(std::function<bool()> const& holds) {
        auto const end = lease_clock::now() + std::chrono::minutes{1};
        run();
        while (!holds() && lease_clock::now() < end) {
            pass_to_timer(end);
            run();
        }
        return holds();
    }
    void on_strand(std::function<void()> f) {
        asio::post(state->strand(), std::move(f));
        run();
    }
    /// The scripts that were not answered yet, the oldest first.
    std::string sent() const {
        std::string names;
        for (auto const& one : server->requests) {
            auto const name = one.what.what().name;
            names += names.empty() ? "" : " ";
            names += name.starts_with("lock.") ? name.substr(5) : name;
        }
        return names;
    }
    /// Answers the oldest request.
    void answer(detail::exec_result result) {
        auto oldest =
            std::make_shared<scripted_backend::request>(std::move(server->requests.at(0)));
        server->requests.pop_front();
        on_strand([oldest, result = std::move(result)] { std::move(oldest->handler)(result); });
    }
    void set_commands_up(bool up) {
        server->commands_up = up;
        on_strand([this, up] {
            detail::connection_id const which{.what = purpose::commands, .server = 0, .epoch = 1};
            up ? server->events->on_up(which) : server->events->on_down(which);
        });
    }
    /// The connection leads to this server from now on.
    void reconnect_to(std::string run_id) {
        set_commands_up(false);
        server->run_id = std::move(run_id);
        set_commands_up(true);
    }
    void fail(error_code cause) {
        server->commands_up = false;
        server->why = {cause, true};
        on_strand([this, cause] { server->events->on_failure({}, cause); });
    }
    void notify() {
        on_strand([this] { server->listeners->on_notification(on->channel(), "0"); });
    }
    void confirm() {
        on_strand([this] { server->listeners->on_confirmed(on->channel()); });
    }

    detail::holds& held() { return state->acquires().held(); }
    stats count() const { return state->snapshot(); }

    // Time passes when a test says so: one that is paused does not miss an instant.
    detail::virtual_time::watch time{true};
    log_lines log;
    boost::asio::io_context context;
    scripted_backend* server = nullptr;
    std::shared_ptr<detail::client_state> state;
    std::shared_ptr<detail::target const> on =
        std::make_shared<detail::target const>(detail::make_lock_target("", "a"));
};

}  // namespace holdfast::test

#endif
