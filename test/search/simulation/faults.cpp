#include "simulation/faults.hpp"

#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

faults::faults(setting& all, std::vector<std::shared_ptr<node>>& nodes)
    : all_{all},
      nodes_{nodes} {}

void faults::plan(std::size_t how_many, nanos horizon) {
    for (std::size_t i = 0; i < how_many; ++i) {
        all_.in.at(dice().time(0ns, horizon), [this] {
            if (!healed_) {
                happen();
            }
        });
    }
}

void faults::heal() {
    healed_ = true;
    // What ends may have begun something else.
    while (!going_on_.empty()) {
        for (auto const& one : std::exchange(going_on_, {})) {
            std::exchange(*one, {})();
        }
    }
    all_.on.disarm();
    all_.judge.on_disturbance();
    all_.in.trace(nullptr, "FAULT: all is healed");
}

void faults::say(std::string const& what) {
    all_.in.trace(nullptr, "FAULT: " + what);
    all_.in.mark(what);
}

void faults::lasts(nanos how_long, undo end) {
    auto const kept = std::make_shared<undo>([this, end = std::move(end)] {
        end();
        all_.judge.on_disturbance_ends();
    });
    all_.judge.on_disturbance_starts();
    // The next connection may take as long again, and more.
    all_.long_faults = all_.long_faults || how_long >= nanos{all_.lease} / 4;
    going_on_.push_back(kept);
    all_.in.after(how_long, [this, kept] {
        if (*kept) {
            std::erase(going_on_, kept);
            say("over");
            std::exchange(*kept, {})();
        }
    });
}

void faults::at_once() {
    all_.judge.on_disturbance();
}

nanos faults::a_while() {
    auto const longest = std::clamp<nanos>(3 * nanos{all_.lease}, 3s, 10s);
    return dice().any_scale(1ms, longest);
}

nanos faults::some_moment() {
    return dice().any_scale(10us, 2s);
}

std::shared_ptr<node> faults::somebody() {
    return nodes_[dice().below(nodes_.size())];
}

std::shared_ptr<link> faults::some_link() {
    auto const open = all_.on.links();
    return open.empty() ? nullptr : open[dice().below(open.size())];
}

std::string const& faults::some_lock() {
    return all_.locks[dice().below(all_.locks.size())];
}

std::string faults::some_script() {
    if (all_.at == deployment::quorum) {
        return dice().one_of<char const*>(
            {"",
             "quorum_lock.acquire",
             "quorum_lock.acquire",
             "quorum_lock.raise_token",
             "lock.renew",
             "lock.release"}
        );
    }
    if (all_.judge.counting().used() && dice().chance(50)) {
        return dice().one_of<char const*>(
            {"counting_semaphore.acquire",
             "counting_semaphore.acquire",
             "counting_semaphore.withdraw",
             "counting_semaphore.add",
             "latch.count_down"}
        );
    }
    std::string const name = dice().one_of<char const*>(
        {"",
         "lock.acquire",
         "lock.acquire",
         "lock.renew",
         "lock.renew_many",
         "lock.release",
         "fair_lock.acquire",
         "fair_lock.release",
         "read_lock.acquire",
         "read_lock.renew",
         "read_lock.release",
         "write_lock.acquire",
         "write_lock.release"}
    );
    bool const pools = is_pool(all_.locks.front()) && !name.empty();
    return pools ? "semaphore" + name.substr(name.find('.')) : name;
}

void faults::happen() {
    ++count_;
    if (fails_over(all_.at) && dice().chance(45)) {
        bool const clustered = all_.at == deployment::cluster;
        if (dice().chance(clustered ? 50 : 80)) {
            on_primary();
        } else if (!clustered) {
            on_sentinel();
        } else if (!all_.slots_stay) {
            on_slot();
        }
        return;
    }
    auto const which = dice().below(100);
    if (all_.at == deployment::quorum) {
        // The servers of a quorum send no messages that grant a lock, so none can be faulty.
        if (which < 20) {
            on_network(dice().below(8));
        } else if (which < 40) {
            on_message(dice().one_of<std::size_t>({0, 1, 2, 3, 6}));
        } else if (which < 80) {
            on_node(dice().below(6));
        } else {
            on_process(dice().below(6));
        }
        return;
    }
    if (which < 20) {
        on_network(dice().below(8));
    } else if (which < 42) {
        on_message(dice().below(8));
    } else if (which < 58) {
        on_server(dice().below(6));
    } else if (which < 72) {
        on_data(dice().below(8));
    } else if (which < 80) {
        on_refusal();
    } else if (which < 85) {
        on_rules(dice().below(4));
    } else {
        on_process(dice().below(6));
    }
}

void faults::on_network(std::size_t which) {
    auto const whose = somebody()->number();
    auto& on = all_.on;
    switch (which) {
        case 0:
        case 1: {
            bool const there = dice().chance(70);
            bool const back = !there || dice().chance(70);
            say(fmt::format("p{} is cut off ({}{})", whose, there ? "to" : "", back ? "fro" : ""));
            if (there) {
                on.stall(whose, direction::to_server, true);
            }
            if (back) {
                on.stall(whose, direction::to_client, true);
            }
            lasts(a_while(), [&on, whose] {
                on.stall(whose, direction::to_server, false);
                on.stall(whose, direction::to_client, false);
            });
            break;
        }
        case 2:
            if (auto const one = some_link()) {
                auto const way = dice().one_of({direction::to_server, direction::to_client});
                say(fmt::format("a connection of p{} becomes a black hole", one->of()));
                one->way(way).black_hole = true;
                one->watch_health();
                at_once();
            }
            break;
        case 3:
            if (auto const one = some_link()) {
                say(fmt::format("a connection of p{} breaks", one->of()));
                one->close_by_server(
                    dice().one_of<error_code>({asio::error::connection_reset, asio::error::eof})
                );
                at_once();
            }
            break;
        case 4:
            say("all connections of one kind break");
            for (bool const commands = dice().chance(50); auto const& one : on.links()) {
                if (one->is_for_commands() == commands) {
                    one->close_by_server(asio::error::connection_reset);
                }
            }
            at_once();
            break;
        case 5:
        case 6: {
            auto& route = on.route_of(whose);
            say(fmt::format("the network of p{} is slow", whose));
            route.slower_by = dice().any_scale(30ms, 2s);
            // For several requests.
            lasts(std::max(a_while(), 5 * route.slower_by), [&route] { route.slower_by = 0ns; });
            break;
        }
        default:
            say("new connections are refused");
            on.set_refuses_connections(true);
            lasts(a_while(), [&on] { on.set_refuses_connections(false); });
            break;
    }
}

void faults::on_message(std::size_t which) {
    auto const script = some_script();
    switch (which) {
        case 0:
            say("the connection breaks instead of the answer to " + script);
            all_.on.break_after(script);
            break;
        case 1:
            say("the connection breaks before " + script);
            all_.on.break_before(script);
            break;
        case 2:
            say("twice: " + script);
            all_.on.run_twice(script, 0ns);
            all_.judge.reached(sometimes::executed_twice);
            break;
        case 3:
            say("twice, the second time later: " + script);
            all_.on.run_twice(script, some_moment());
            // A waiter that has gone by then may have a place again.
            all_.long_faults = true;
            break;
        case 4:
        case 5: {
            say("the next message that gives a lock away is late, early, lost or repeated");
            auto const how = dice().one_of(
                {grant_fault::late, grant_fault::early, grant_fault::lost, grant_fault::repeated}
            );
            all_.on.set_grant_fault(how, some_moment());
            break;
        }
        default:
            if (auto const one = some_link()) {
                say("the next answer is dropped, repeated, swapped, or one too many");
                all_.judge.on_answers_shift(one->of());
                one->set_answer_fault(dice().one_of(
                    {answer_fault::drop,
                     answer_fault::duplicate,
                     answer_fault::swap,
                     answer_fault::insert}
                ));
            }
            break;
    }
    at_once();
}

void faults::on_process(std::size_t which) {
    auto const whose = somebody();
    if (whose->killed()) {
        return;
    }
    auto const weak = std::weak_ptr{whose};
    auto const if_alive = [weak](auto what) {
        if (auto const still = weak.lock(); still && !still->killed()) {
            what(*still);
        }
    };
    auto const go_on = [this, if_alive] {
        if_alive([this](node& one) {
            one.of().resume();
            all_.judge.hand_overs().on_resumed(one.number());
        });
    };
    if (which < 3) {
        all_.judge.hand_overs().on_stopped(whose->number());
    }
    switch (which) {
        case 0:
        case 1:
            say(fmt::format("p{} is stopped", whose->number()));
            whose->of().pause();
            lasts(a_while(), go_on);
            break;
        case 2:
            say(fmt::format("the machine of p{} is suspended", whose->number()));
            whose->of().suspend();
            lasts(a_while(), go_on);
            break;
        case 3: {
            auto* const lane = &whose->random_lane();
            say(fmt::format("thread {} of p{} is blocked", lane->number, whose->number()));
            whose->of().block(*lane);
            lasts(a_while(), [if_alive, lane] {
                if_alive([lane](node& one) { one.of().unblock(*lane); });
            });
            break;
        }
        case 4:
            say(fmt::format("p{} is killed", whose->number()));
            if (whose->holding()) {
                all_.judge.reached(sometimes::killed_holding);
            }
            all_.on.close_all_of(whose->number());
            whose->kill();
            at_once();
            break;
        default:
            if (!whose->closed()) {
                say(fmt::format("the client of p{} is closed", whose->number()));
                whose->close(dice().chance(50));
                all_.judge.hand_overs().on_stopped(whose->number());
                at_once();
            }
            break;
    }
}

}  // namespace holdfast::sim
