#include "simulation/faults.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::sim {

// As often as not a majority of them is gone: then nobody gets the lock, and nobody has it twice.
void faults::on_node(std::size_t which) {
    auto& on = all_.on;
    auto& at = on.machine_at(dice().below(all_.hosts.size()));
    if (!at.up || at.paused) {
        return;
    }
    bool const keeps = dice().chance(40);
    // A client that has not known the process before relies on the clock of the next one.
    bool const all_known = all_.in.now() >= 2s;
    auto const begin_again = [this, &on, &at, keeps] {
        if (!keeps) {
            all_.quorums.on_forgotten();
        }
        on.start(at, keeps);
    };
    switch (which) {
        case 0:
        case 1:
            say(fmt::format("{} is killed", at.host));
            on.kill(at);
            lasts(a_while(), begin_again);
            break;
        case 2:
            say(fmt::format("{} begins again, {} its data", at.host, keeps ? "with" : "without"));
            begin_again();
            if (!keeps && dice().chance(30) && all_known) {
                // It seems to have been up for long.
                say(fmt::format("the clock of {} goes ahead", at.host));
                at.clock_offset += 1h;
            }
            at_once();
            break;
        case 3:
        case 4:
            say(fmt::format("{} is stopped", at.host));
            on.pause(at);
            lasts(a_while(), [&on, &at] {
                if (at.up && at.paused) {
                    on.resume(at);
                }
            });
            break;
        default:
            say(fmt::format("the clock of {} goes back", at.host));
            at.clock_offset -= dice().any_scale(10ms, 5s);
            at_once();
            break;
    }
}

}  // namespace holdfast::sim
