#ifndef HOLDFAST_TEST_SIMULATION_LEASE_STAGE_HPP
#define HOLDFAST_TEST_SIMULATION_LEASE_STAGE_HPP

#include "simulation/stage.hpp"

#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <tuple>

namespace holdfast::sim {

/// A stage on which leases are granted and lost.
struct lease_stage : stage {
    /// Checks that the client gets the lock within 10 s.
    std::shared_ptr<call<lease>> granted(actor& to, acquire_options const& options = {}) {
        auto const asked = to.acquire(options);
        BOOST_TEST(run_until([&] { return asked->done; }, 10s));
        BOOST_TEST(asked->error.message() == error_code{}.message());
        return asked;
    }
    /// The same of a lease that nothing asks for before it ends.
    std::shared_ptr<call<lease>> granted_for_once(actor& to) {
        acquire_options options;
        options.renew = false;
        return granted(to, options);
    }
    /// One client has the lock, and another one waits for it.
    struct contention {
        actor& one;
        actor& two;
        std::shared_ptr<call<lease>> held;
        std::shared_ptr<call<lease>> waiting;

        void drop_both() {
            one.drop(*held);
            two.drop(*waiting);
        }
    };
    contention contend() {
        auto& one = add_ready();
        auto& two = add_ready();
        contention made{one, two, granted(one), two.acquire()};
        run_for(100ms);
        BOOST_TEST(!made.waiting->done);
        return made;
    }
    static lease& held_by(call<lease>& got) { return std::get<0>(*got.results); }
    static lease_state state_of(actor& whose, call<lease>& got) {
        view_of const view{whose.of()};
        return held_by(got).state();
    }
    static bool has_failed_over(actor& whose, call<lease>& got) {
        return state_of(whose, got) == lease_state::lost &&
               held_by(got).loss() == loss_reason::failed_over;
    }
};

}  // namespace holdfast::sim

#endif
