// What goes on in a cluster: slots go from node to node, and those who hear of it do so one by one.

#include "simulation/faults.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::sim {

using memory::moving_slot;

struct faults::move {
    std::string lock;
    machine& from;
    machine& to;
    std::shared_ptr<moving_slot> keys;
};

machine& faults::some_server() {
    auto& on = all_.on;
    return on.is_cluster() && dice().chance(50) ? on.other_primary(on.primary()) : on.primary();
}

// As the tools of a cluster do it: first the node that gets the slot is told, then the one that has
// it, and then the keys go one by one.
void faults::on_slot() {
    auto& on = all_.on;
    auto const& lock = some_lock();
    auto& from = on.owner_of(lock);
    auto& to = on.other_primary(from);
    if (changing_places_ || !from.up || from.paused || !to.up || to.paused) {
        return;
    }
    changing_places_ = true;
    // A place in a queue may stay behind with a request that came too late.
    all_.long_faults = true;
    say(fmt::format("the slot of {} goes from {} to {}", lock, from.host, to.host));
    auto const slot = detail::slot_of(lock);
    auto const what = std::make_shared<move>(
        lock,
        from,
        to,
        std::make_shared<moving_slot>(moving_slot{slot, from.number, to.number})
    );
    to.data.set_moving(what->keys);
    lasts(dice().any_scale(1ms, 100ms), [this, what] {
        what->from.data.set_moving(what->keys);
        move_next_key(what);
    });
}

// Keys go as long as both nodes run.
void faults::move_next_key(std::shared_ptr<move> const& what) {
    lasts(dice().any_scale(100us, 500ms), [this, what] {
        bool const runs = what->from.up && !what->from.paused && what->to.up && !what->to.paused;
        auto const keys = all_.on.data_of(what->from).keys_to_move(*what->keys);
        if (keys.empty() && runs) {
            end_move(what);
            return;
        }
        if (runs) {
            what->keys->arrived.insert(keys[dice().below(keys.size())]);
        }
        move_next_key(what);
    });
}

void faults::end_move(std::shared_ptr<move> const& what) {
    auto& on = all_.on;
    say(fmt::format("{} has the slot of {}", what->to.host, what->lock));
    on.give_slot(what->keys->slot, what->to);
    for (auto const& lock : all_.locks) {
        if (detail::slot_of(lock) != what->keys->slot) {
            continue;
        }
        if (on.data().exists(lock)) {
            all_.judge.reached(sometimes::moved_while_held);
        }
        if (all_.judge.is_waited_for(lock)) {
            all_.judge.reached(sometimes::moved_while_waited_for);
        }
        all_.judge.on_slot_moved(lock);
    }
    tell_node(what->to, [this, what] {
        lasts(dice().any_scale(1ms, 300ms), [this, what] {
            tell_node(what->from, [this, what] {
                changing_places_ = false;
                // The replica.
                lasts(dice().any_scale(1ms, 300ms), [this] {
                    for (std::size_t i = 0; i < cluster_nodes; ++i) {
                        if (auto& one = all_.on.machine_at(i); !all_.on.counts(one)) {
                            tell_node(one);
                        }
                    }
                });
            });
        });
    });
}

void faults::tell_node(machine& which, undo then) {
    if (!which.up || which.paused) {
        lasts(50ms, [this, &which, then = std::move(then)] { tell_node(which, then); });
        return;
    }
    auto const before = which.data.subscriptions();
    all_.on.tell(which);
    if (which.data.subscriptions() < before) {
        all_.judge.reached(sometimes::channel_withdrawn);
    }
    then();
}

}  // namespace holdfast::sim
