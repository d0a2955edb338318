// What goes wrong with the primary, its replica, and those who say which is which.

#include "simulation/faults.hpp"

#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace holdfast::sim {

namespace {

constexpr auto told_within = 300ms;

}  // namespace

void faults::on_primary() {
    auto& on = all_.on;
    auto& old = on.primary();
    auto& to = on.machine_at(&old == &on.machine_at(0) ? 1 : 0);
    if (changing_places_ || !to.up || to.paused || !old.up || old.paused) {
        return;
    }
    changing_places_ = true;
    // A place in a queue that was given up may be there again.
    all_.long_faults = true;
    auto const takes = dice().any_scale(1ms, 3s);
    auto const fate = dice().below(4);
    switch (fate) {
        case 0:
            say("the primary is killed");
            on.kill(old);
            break;
        case 1:
            say("the primary is stopped");
            on.pause(old);
            break;
        case 2: say("the primary is given up, and does not know it"); break;
        default: say("the primary and its replica are told to change places"); break;
    }
    // A Sentinel tells those that are still connected; where there is none, somebody has to. A node
    // of a cluster tells them itself.
    bool const connections_end =
        all_.at != deployment::cluster && (all_.by_name || dice().chance(50));
    lasts(takes, [this, &on, &old, &to, fate, connections_end] {
        // The clock of a replica may be behind by as long as the former primary has not been there
        // to grant anything. Another fault may have started it again.
        bool const clocks_differ = fate == 0 && all_.at != deployment::cluster && dice().chance(50);
        promote(
            to,
            clocks_differ && !old.up ? dice().time(0ns, all_.in.now() - old.down_since) : 0ns
        );
        auto const knows = [this, &on, &old, fate, connections_end] {
            if (fate == 0) {
                on.start(old, true);
            } else if (fate == 1 && old.paused) {
                on.resume(old);
            }
            demote(old, connections_end);
        };
        if (fate == 3) {
            knows();
        } else if (fate == 1 && dice().chance(50)) {
            // It goes on, and is the primary as far as it knows.
            lasts(dice().any_scale(1ms, 1s), [this, &on, &old, knows] {
                on.resume(old);
                lasts(dice().any_scale(1ms, 1s), knows);
            });
        } else {
            lasts(dice().any_scale(1ms, 2s), knows);
        }
    });
}

void faults::promote(machine& to, nanos clock_behind) {
    auto& on = all_.on;
    auto const behind = dice().chance(40) ? 0 : 1 + dice().below(dice().chance(50) ? 4 : 24);
    say(fmt::format("the replica is promoted, {} writes behind", behind));
    to.clock_offset = on.primary().clock_offset - clock_behind;
    all_.judge.on_failover([&on, &to, behind] { on.promote(to, behind); });
    // What was there a while ago is there again.
    for (auto const& lock : all_.locks) {
        if (all_.foreign_values && is_pool(lock)) {
            end_foreign_value(lock);
        }
    }
    set_limits_again();
    for (auto const& lock : given_back_) {
        give_back(lock);
    }
    if (all_.at == deployment::cluster) {
        auto& other = on.other_primary(to);
        lasts(dice().any_scale(1ms, told_within), [this, &other] { tell_node(other); });
        return;
    }
    // Sentinels close the clients' connections to a server that they promote.
    close_all_at(to);
    tell_of_primary();
}

// The Sentinels learn of it one by one, and the name leads there a little later.
void faults::tell_of_primary() {
    auto& on = all_.on;
    ++config_epoch_;
    for (std::size_t i = 0; i < sentinels; ++i) {
        auto& one = on.machine_at(servers + i);
        auto const later = dice().chance(85) ? dice().any_scale(1ms, told_within) : a_while();
        lasts(later, [this, &one] { tell_sentinel(one); });
    }
    lasts(dice().any_scale(1ms, told_within), [&on] { on.lead_to(on.primary()); });
}

void faults::tell_sentinel(machine& which) {
    if (!which.up || which.paused) {
        return;
    }
    auto const& there = all_.on.primary();
    which.data.set_watched({primary_name, there.host, there.port, config_epoch_});
}

void faults::demote(machine& old, bool connections_end) {
    say("the former primary is a replica now");
    all_.on.demote(old);
    changing_places_ = false;
    if (connections_end) {
        close_all_at(old);
    }
}

void faults::close_all_at(machine& which) {
    // Those too whose clients have closed them, and cannot say so.
    auto const all = which.links;
    for (auto const& one : all) {
        one->close_by_server(boost::asio::error::connection_reset);
    }
}

void faults::on_sentinel() {
    auto& on = all_.on;
    auto& one = on.machine_at(servers + dice().below(sentinels));
    if (!one.up || one.paused) {
        return;
    }
    if (dice().chance(50)) {
        say("a Sentinel is killed");
        on.kill(one);
        lasts(a_while(), [this, &on, &one] {
            on.start(one, true);
            tell_sentinel(one);
        });
    } else {
        say("a Sentinel is stopped");
        on.pause(one);
        lasts(a_while(), [this, &on, &one] {
            if (one.paused) {
                on.resume(one);
            }
            tell_sentinel(one);
        });
    }
}

}  // namespace holdfast::sim
