#include "exhaustive/scenario.hpp"

#include "protocol/scripts.hpp"
#include "simulation/arena.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace holdfast::exhaustive {

namespace {

using namespace sim;

constexpr char const* the_lock = "lock";
// When the clients are connected, and all begins.
constexpr nanos begins_at = 1s;

/// A user who does what the scenario says.
class scripted final : public user {
public:
    scripted(node& in, lane& on, int number, std::vector<use> uses)
        : user{in, on, number},
          uses_{std::move(uses)} {}

    static asio::awaitable<void> run(std::shared_ptr<scripted> self) {
        for (auto const& one : self->uses_) {
            auto const later = 1ms * self->all_.in.choose(one.later + 1, choice::start);
            auto pause = self->sleep(begins_at + one.begins + later - self->all_.in.now());
            co_await std::move(pause);
            auto doing = self->acquire_and_hold(one);
            co_await std::move(doing);
        }
        self->node_.on_user_done();
    }

private:
    asio::awaitable<void> acquire_and_hold(use const& one) {
        request what;
        what.lock = the_lock;
        what.how = one.how;
        what.limit = one.limit;
        what.options = one.options;
        auto asked = ask(what);
        auto held = co_await std::move(asked);
        if (!held) {
            co_return;
        }
        in_hand hold{*this, the_lock, held};
        auto const watching = std::make_shared<call<loss_reason>>(executor_);
        held.wait_lost(watching->token());
        auto work = sleep(one.holds);
        co_await std::move(work);
        note_told(*watching, hold.belief());
        if (held.state() == lease_state::lost) {
            all_.judge.on_lost(held.loss());
        }
        hold.part();
        if (one.drops) {
            held = lease{};
        } else {
            auto parting = release(held, the_lock);
            co_await std::move(parting);
        }
        auto end = done(watching);
        co_await std::move(end);
    }

    std::vector<use> uses_;
};

class schedule {
public:
    schedule(scenario const& of, bool traced) : of_{of}, arena_{1, traced, 1.0} {}

    outcome run(search& decisions, std::size_t faults) {
        prepare();
        auto& in = arena_.in();
        in.set_choices(&decisions);
        faults_left_ = faults;
        arena_.run_while(
            [&] {
                maybe_fail();
                return working();
            },
            10 * nanos{of_.lease}
        );
        in.set_choices(nullptr);
        arena_.settle();
        arena_.part();
        return arena_.result();
    }

private:
    void prepare() {
        auto& all = arena_.all();
        arena_.in().set_in_order(true);
        arena_.set_lease(of_.lease);
        all.client.fallback_poll_interval = of_.fallback_poll_interval;
        all.client.reconnect_max = 200ms;
        for (std::size_t i = 0; i < of_.clients.size(); ++i) {
            auto& route = arena_.on().route_of(static_cast<std::uint32_t>(i + 1));
            route.shortest = route.longest = 1ms;
            route.slow_by_factor = of_.slow;
            arena_.add_node(1.0);
        }
        arena_.in().run_until(begins_at - 1ms);
        if (of_.scripts_known) {
            namespace scripts = detail::scripts;
            for (auto const* one :
                 {&scripts::lock_acquire, &scripts::lock_renew, &scripts::lock_release}) {
                arena_.on().as_operator({"SCRIPT", "LOAD", one->text});
            }
        }
        for (std::size_t i = 0; i < of_.clients.size(); ++i) {
            auto& in = *arena_.nodes()[i];
            for (auto const& uses : of_.clients[i]) {
                auto& on = in.add_user();
                auto const made = std::make_shared<scripted>(in, on, 0, uses);
                users_.resize(i + 1);
                users_[i].push_back(made);
                asio::co_spawn(in.of().executor_of(on), scripted::run(made), asio::detached);
            }
        }
    }

    bool working() {
        for (auto const& one : arena_.nodes()) {
            if (one->working()) {
                return true;
            }
        }
        return false;
    }

    static bool is_cancellation(fault const& one) {
        return one.what == fault::kind::cancelled_at_once ||
               one.what == fault::kind::cancelled_in_total;
    }

    // A cancellation makes a difference between any two handlers; what happens outside of a process
    // only between two events, at once or just before the next of them.
    void maybe_fail() {
        auto& in = arena_.in();
        if (faults_left_ == 0 || in.now() < begins_at || in.changes() == seen_) {
            return;
        }
        seen_ = in.changes();
        std::vector<std::pair<fault, bool>> possible;
        for (auto const& one : of_.faults) {
            if (arena_.nodes()[one.client]->killed()) {
                continue;
            }
            if (is_cancellation(one) ? users_[one.client].front()->waits() : in.at_rest()) {
                possible.emplace_back(one, false);
                auto const next = in.next_change();
                if (!is_cancellation(one) && next > in.now() + 2ms && next != nanos::max()) {
                    possible.emplace_back(one, true);
                }
            }
        }
        auto const which = in.choose(possible.size() + 1, choice::fault);
        if (which > 0) {
            --faults_left_;
            auto const& [what, late] = possible[which - 1];
            if (late) {
                in.run_until(in.next_change() - 100us);
            }
            happen(what);
        }
    }

    void happen(fault const& what);

    void each_link(std::size_t client, bool commands, auto what) {
        for (auto const& one : arena_.on().links()) {
            if (one->of() == client + 1 && one->is_for_commands() == commands) {
                what(*one);
            }
        }
    }

    scenario const& of_;
    arena arena_;
    std::vector<std::vector<std::shared_ptr<scripted>>> users_;
    std::size_t faults_left_ = 0;
    std::uint64_t seen_ = 0;
};

void schedule::happen(fault const& what) {
    auto& in = arena_.in();
    auto& on = arena_.on();
    auto& whose = *arena_.nodes()[what.client];
    auto const number = whose.number();
    auto& first = *users_[what.client].front();
    in.trace(nullptr, fmt::format("FAULT {} of p{}", static_cast<int>(what.what), number));
    arena_.judge().on_disturbance();
    switch (what.what) {
        case fault::kind::cancelled_at_once: first.cancel(asio::cancellation_type::terminal); break;
        case fault::kind::cancelled_in_total: first.cancel(asio::cancellation_type::total); break;
        case fault::kind::commands_break:
        case fault::kind::notifications_break:
            each_link(what.client, what.what == fault::kind::commands_break, [](link& one) {
                one.close_by_server(asio::error::connection_reset);
            });
            break;
        case fault::kind::notifications_swallowed:
            each_link(what.client, false, [](link& one) {
                one.way(direction::to_client).black_hole = true;
            });
            break;
        case fault::kind::commands_fail:
            each_link(what.client, true, [](link& one) {
                one.fail_at_client(asio::error::timed_out);
            });
            break;
        case fault::kind::request_lost: on.break_before(""); break;
        case fault::kind::answer_lost: on.break_after(""); break;
        case fault::kind::cut_off:
            on.stall(number, direction::to_server, true);
            on.stall(number, direction::to_client, true);
            in.after(std::min(nanos{of_.lease} / 4, nanos{4'500ms}), [&on, number] {
                on.stall(number, direction::to_server, false);
                on.stall(number, direction::to_client, false);
            });
            break;
        case fault::kind::server_restarts:
            on.kill();
            in.after(20ms, [&on] { on.start(true); });
            break;
        case fault::kind::scripts_forgotten: on.data().flush_scripts(); break;
        case fault::kind::script_refused:
            on.data().refuse_next("evalsha", 1, "BUSY Redis is busy running a script.");
            break;
        case fault::kind::key_removed:
            arena_.judge().excuse(the_lock);
            on.data().erase(the_lock);
            break;
        case fault::kind::killed:
            if (whose.holding()) {
                arena_.judge().reached(sometimes::killed_holding);
            }
            on.close_all_of(number);
            whose.kill();
            break;
        case fault::kind::thread_blocked:
            whose.of().block(first.on());
            in.after(3 * nanos{of_.lease} / 2, [&whose, &first] {
                if (!whose.killed()) {
                    whose.of().unblock(first.on());
                }
            });
            break;
    }
}

}  // namespace

findings explore(scenario const& of, bound limit) {
    findings all;
    search decisions{limit};
    auto const run = [&](bool traced) { return schedule{of, traced}.run(decisions, limit.faults); };
    do {
        auto const one = run(false);
        ++all.schedules;
        all.steps += one.steps;
        for (std::size_t i = 0; i < all.reached.size(); ++i) {
            all.reached[i] += one.reached[i] > 0 ? 1 : 0;
        }
        if (decisions.diverged()) {
            all.violation = "the same decisions did two different things";
        } else if (!one.violation.empty()) {
            all.violation = fmt::format("{} ({})", one.violation, decisions.describe());
            decisions.again();
            if (of.traced) {
                run(true);
            }
        }
    } while (all.violation.empty() && decisions.next());
    all.points = decisions.points();
    all.deepest = decisions.deepest();
    return all;
}

}  // namespace holdfast::exhaustive
