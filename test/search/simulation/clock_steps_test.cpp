// The server's clock steps while clients wait: nobody waits longer, and all are served in the order
// in which they came.

#include "simulation/stage.hpp"

#include <holdfast.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace holdfast;
using namespace holdfast::sim;

namespace {

using asked = std::shared_ptr<call<lease>>;
using begin = std::function<asked(actor&)>;

asked fair(actor& who) {
    auto wanted = who.make_call<lease>();
    who.run([&] { who.client().fair_lock("lock").acquire(wanted->token()); });
    return wanted;
}
asked write(actor& who) {
    auto wanted = who.make_call<lease>();
    who.run([&] { who.client().read_write_lock("lock").write().acquire(wanted->token()); });
    return wanted;
}
asked permit(actor& who) {
    auto wanted = who.make_call<lease>();
    who.run([&] { who.client().semaphore("pool").acquire(wanted->token()); });
    return wanted;
}
asked plain(actor& who) {
    return who.acquire();
}

// A holder whose lease does not end, and five that wait.
class line : public stage {
public:
    explicit line(begin const& acquire) {
        settings().lease = 24h;
        holder_ = &add_ready();
        auto const set = holder_->make_call<bool>();
        holder_->run([&] { holder_->client().semaphore("pool").try_set_permits(1, set->token()); });
        BOOST_TEST_REQUIRE(run_until([&] { return set->done; }, 1s));
        held_ = acquire(*holder_);
        BOOST_TEST_REQUIRE(run_until([&] { return held_->done; }, 1s));
        for (auto& one : wanted_) {
            waiters_.push_back(&add_ready());
            one = acquire(*waiters_.back());
            run_for(100ms);
            BOOST_TEST_REQUIRE(!one->done);
        }
    }
    // Its process ends, and the server learns of it.
    void kill(std::size_t which) {
        waiters_[which]->of().pause();
        on().close_all_of(waiters_[which]->of().number());
        run_for(50ms);
        gone_.insert(which);
    }
    void release() { holder_->drop(*held_); }
    // The numbers of those that wait, as they are served: each is done at once.
    std::string order(nanos limit) {
        std::string order;
        run_until(
            [&] {
                for (std::size_t i = 0; i < wanted_.size(); ++i) {
                    if (!gone_.contains(i) && wanted_[i]->done && wanted_[i]->results) {
                        order += std::to_string(i);
                        waiters_[i]->drop(*wanted_[i]);
                    }
                }
                return order.size() == wanted_.size() - gone_.size();
            },
            limit
        );
        return order;
    }

private:
    actor* holder_;
    asked held_;
    std::array<asked, 5> wanted_;
    std::vector<actor*> waiters_;
    std::set<std::size_t> gone_;
};

std::array<begin, 4> const kinds{fair, write, permit, plain};

}  // namespace

BOOST_AUTO_TEST_CASE(clients_are_served_in_the_order_of_their_arrival_after_a_step_of_the_clock) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        for (auto const step : {nanos{1h}, nanos{30s}, nanos{-40s}, nanos{-1h}}) {
            BOOST_TEST_CONTEXT("kind " << kind << ", " << step.count() / 1'000'000'000 << " s") {
                line all{kinds[kind]};
                all.on().step_clock(step);
                all.run_for(3s);
                all.release();
                BOOST_TEST(all.order(10s) == "01234");
            }
        }
    }
}

// Those that ask first are not those that came first.
BOOST_AUTO_TEST_CASE(they_are_if_the_lock_is_released_before_they_have_asked_again) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        for (auto const step : {nanos{1h}, nanos{30s}}) {
            BOOST_TEST_CONTEXT("kind " << kind << ", " << step.count() / 1'000'000'000 << " s") {
                line all{kinds[kind]};
                all.run_for(250ms);
                all.on().step_clock(step);
                all.release();
                // Half of their patience, because they wait for those that came before.
                auto const order = all.order(kind < 3 ? 1050ms : 10s);
                if (kind < 3) {
                    BOOST_TEST(order == "01234");
                } else {
                    BOOST_TEST(order.size() == 5U);
                }
            }
        }
    }
}

// Their patience is 2 s.
BOOST_AUTO_TEST_CASE(waiters_that_died_delay_the_others_by_no_step_back_of_the_clock) {
    struct scene {
        std::vector<std::size_t> killed;
        std::string served;
    };
    scene const scenes[] =
        {{{0}, "1234"}, {{0, 1, 2, 3}, "4"}, {{1, 2, 3}, "04"}, {{0, 2, 3}, "14"}};
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        for (auto const& [killed, served] : scenes) {
            for (auto const step : {nanos{-5s}, nanos{-40s}, nanos{-1h}}) {
                BOOST_TEST_CONTEXT(
                    "kind " << kind << ", " << served << ", " << step.count() / 1'000'000'000
                            << " s"
                ) {
                    line all{kinds[kind]};
                    for (auto const which : killed) {
                        all.kill(which);
                    }
                    all.on().step_clock(step);
                    all.release();
                    BOOST_TEST(all.order(3s) == served);
                }
            }
        }
    }
}
