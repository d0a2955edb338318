#ifndef HOLDFAST_TEST_UNIT_ACQUIRE_QUORUM_ACQUIRING_HPP
#define HOLDFAST_TEST_UNIT_ACQUIRE_QUORUM_ACQUIRING_HPP

#include "acquire/quorum_acquire.hpp"
#include "acquire/quorum_line.hpp"
#include "protocol/quorum_lock.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"
#include "unit/scripted_client.hpp"

#include <holdfast/lease_clock.hpp>
#include <holdfast/quorum_lease.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

/// Scripted servers of a quorum, each with a client on a context of its own.
struct scripted_nodes {
    explicit scripted_nodes(
        std::size_t count = 3,
        bool connected = true,
        config const& settings = {}
    ) {
        for (std::size_t i = 0; i < count; ++i) {
            all.emplace_back(settings);
            if (connected) {
                set_up(i, true);
            }
        }
        run();
    }
    // What a node was asked keeps an executor of the first one's context, which has to go last.
    ~scripted_nodes() {
        for (auto& each : all) {
            each.server->requests.clear();
        }
        while (!all.empty()) {
            all.pop_back();
        }
    }

    scripted_client& operator[](std::size_t i) { return all.at(i); }
    scripted_client& lead() { return all.front(); }
    void set_up(std::size_t i, bool up) {
        all[i].set_commands_up(up);
        run();
    }
    /// Until nothing is ready in any context.
    void run() {
        for (std::size_t round = 0; round < 8; ++round) {
            for (auto& each : all) {
                each.run();
            }
        }
    }
    void answer(std::size_t i, detail::exec_result result) {
        all[i].answer(std::move(result));
        run();
    }
    void grant(std::size_t i, std::int64_t token = 70) { answer(i, replied(1, token, 1'000)); }
    void refuse(std::size_t i, std::int64_t remaining = 30'000) {
        answer(i, replied(0, remaining, 0, 1'000));
    }
    /// What node `i` was asked and has not answered.
    std::string sent(std::size_t i) { return all[i].sent(); }
    void confirm(std::size_t i) {
        all[i].on_strand([&] { all[i].server->listeners->on_confirmed(on->channel()); });
        run();
    }
    void notify(std::size_t i) {
        all[i].on_strand([&] { all[i].server->listeners->on_notification(on->channel(), "0"); });
        run();
    }
    /// Lets time pass, and runs what is due.
    void pass(std::chrono::nanoseconds how_long) {
        auto const end = lease_clock::now() + how_long;
        eventually([end] { return lease_clock::now() >= end; }, end);
    }
    /// Runs until something holds, for a timer; false if it does not in the next minute.
    bool eventually(std::function<bool()> const& holds) {
        return eventually(holds, lease_clock::now() + std::chrono::minutes{1});
    }
    bool eventually(std::function<bool()> const& holds, lease_clock::time_point end) {
        run();
        while (!holds() && lease_clock::now() < end) {
            scripted_client::pass_to_timer(end);
            run();
        }
        return holds();
    }
    std::vector<detail::quorum_node> nodes(detail::lease_terms const& terms) {
        std::vector<detail::quorum_node> made;
        for (auto& each : all) {
            made.push_back({each.state, &each.state->acquires(), on, terms});
        }
        return made;
    }

    std::deque<scripted_client> all;
    std::shared_ptr<detail::target const> on =
        std::make_shared<detail::target const>(detail::make_quorum_lock_target("", "a"));
};

inline detail::lease_terms long_terms() {
    return {
        .lease = std::chrono::hours{24},
        .drift = std::chrono::minutes{1},
        .loss_margin = std::chrono::hours{1},
        .renew_after = std::chrono::hours{8},
        .request_timeout = std::chrono::seconds{3},
        .renew = true,
    };
}

/// One acquisition of a quorum, and what came of it.
struct quorum_acquiring {
    explicit quorum_acquiring(
        scripted_nodes& on,
        detail::patience how_long = detail::patience::unlimited,
        std::chrono::nanoseconds limit = {},
        detail::lease_terms const& terms = long_terms(),
        std::optional<owner> const& who = {}
    )
        : nodes_{on} {
        auto handler = [this](error_code ec, quorum_lease given) {
            error = ec;
            got = std::move(given);
        };
        auto& lead = on.lead();
        auto const op = std::make_shared<detail::quorum_acquire>(
            lead.state,
            detail::quorum_acquire::request{on.nodes(terms), how_long, limit, who},
            detail::guarded_executor{lead.context.get_executor()},
            detail::pending_handler<error_code, quorum_lease>{
                asio::bind_cancellation_slot(signal.slot(), handler),
                lead.context.get_executor()
            }
        );
        op->accept_cancellation();
        lead.on_strand([op] { op->start(); });
        on.run();
    }

    bool done() const { return error.has_value(); }
    void cancel(asio::cancellation_type type) {
        signal.emit(type);
        nodes_.run();
    }

    std::optional<error_code> error;
    quorum_lease got;
    asio::cancellation_signal signal;

private:
    scripted_nodes& nodes_;
};

}  // namespace holdfast::test

#endif
