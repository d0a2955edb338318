#ifndef HOLDFAST_TEST_SIMULATION_HAND_OVER_STAGE_HPP
#define HOLDFAST_TEST_SIMULATION_HAND_OVER_STAGE_HPP

#include "simulation/stage.hpp"

#include <holdfast.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

namespace holdfast::sim {

/// A stage for one lock that goes from hand to hand, in the scenarios of the rules of hand-over.
class hand_over_stage : public stage {
public:
    using asked = std::shared_ptr<call<lease>>;

    /// With a long lease no end of a lease hides what a rule is for.
    explicit hand_over_stage(std::chrono::milliseconds lease_time = 60s, std::uint64_t seed = 1)
        : stage{seed} {
        settings().lease = lease_time;
    }

    /// A client that has the lock.
    actor& add_holder(acquire_options const& options = {}) {
        auto& made = add_ready();
        held = made.acquire(options);
        BOOST_TEST_REQUIRE(granted(*held));
        return made;
    }
    /// A client that stands in the server's queue.
    actor& add_waiter(asked& wanted) {
        auto& made = add_ready();
        wait_in_queue(made, wanted);
        return made;
    }
    void wait_in_queue(actor& who, asked& wanted) {
        auto const before = waiting_clients();
        wanted = who.acquire();
        BOOST_TEST_REQUIRE(run_until([&] { return waiting_clients() == before + 1; }, 1s));
        run_for(50ms);  // until its client knows its place
        BOOST_TEST_REQUIRE(!wanted->done);
    }

    /// Whether it is granted in this time.
    bool granted(call<lease> const& wanted, nanos limit = 1s) {
        return run_until([&] { return wanted.done; }, limit) && !wanted.error;
    }
    [[nodiscard]] static lease& lease_of(call<lease>& got) { return std::get<0>(*got.results); }
    [[nodiscard]] static std::uint64_t token_of(call<lease>& got) {
        return lease_of(got).token().value;
    }
    /// When its holder's right ends, in true time.
    [[nodiscard]] static nanos end_of(actor& who, call<lease>& got) {
        view_of const view{who.of()};
        return who.of().true_time_of(lease_of(got).deadline().time_since_epoch());
    }
    [[nodiscard]] static nanos remaining(actor& who, call<lease>& got) {
        view_of const view{who.of()};
        return lease_of(got).remaining();
    }
    [[nodiscard]] static bool valid(actor& who, call<lease>& got) {
        view_of const view{who.of()};
        return lease_of(got).valid();
    }
    /// When the server frees the lock, in true time.
    [[nodiscard]] nanos end_on_server() {
        return in().now() + std::chrono::milliseconds{on().data().pttl("lock")};
    }

    /// The holder id of the first client in the queue.
    [[nodiscard]] std::string first_in_queue() {
        auto const first = on().as_operator({"ZRANGE", "holdfast_queue:{lock}", "0", "0"});
        auto const entry = first.elements.empty() ? std::string{} : first.elements[0].text;
        return entry.substr(0, entry.rfind(' '));
    }
    void publish_to(std::string const& holder, std::string const& message) {
        auto const channel = "holdfast_client:" + holder.substr(0, holder.rfind(':'));
        on().as_operator({"PUBLISH", channel, message});
    }

    /// What the server sends to this client on such connections arrives no sooner than after that
    /// time.
    void delay_to_client(actor& who, bool commands, nanos by) {
        for (auto const& one : on().links()) {
            if (one->of() == who.of().number() && one->is_for_commands() == commands) {
                one->way(direction::to_client).last_arrival = in().now() + by;
            }
        }
    }
    /// Its process ends, and the server learns of it.
    void kill(actor& who) {
        who.of().pause();
        on().close_all_of(who.of().number());
        run_for(50ms);
    }
    /// Stops its process. Its connections stay.
    static void stop(actor& who) { who.of().pause(); }

    /// Of the first holder.
    asked held;
};

/// A holder, and two other clients in the server's queue.
struct with_a_queue final : hand_over_stage {
    explicit with_a_queue(std::chrono::milliseconds lease_time = 60s)
        : hand_over_stage{lease_time},
          holder{&add_holder()},
          second{&add_waiter(seconds)},
          third{&add_waiter(thirds)} {}

    /// The holder gives the lock back.
    void give_back() { holder->drop(*held); }

    actor* holder;
    asked seconds;
    actor* second;
    asked thirds;
    actor* third;
};

}  // namespace holdfast::sim

#endif
