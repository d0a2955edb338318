// The connection fails at a byte of a reply: at every byte of every kind of reply, in each way.
//
// HOLDFAST_WIRE=full runs all of the cuts, otherwise it is every n-th of them. The start and the
// order are drawn: HOLDFAST_WIRE_SEED sets them. HOLDFAST_WIRE_ONLY names one step of the scenario.

#include "support/run.hpp"
#include "wire/campaign.hpp"
#include "wire/plan.hpp"

#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <array>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

#ifdef HOLDFAST_TEST_SANITIZER
constexpr int lanes = 16;
constexpr auto timeout = 400ms;
constexpr std::size_t stride = 101;
#else
constexpr int lanes = 48;
constexpr auto timeout = 100ms;
constexpr std::size_t stride = 19;
#endif

// Longer than the bound: no check can be satisfied by the end of a lease.
constexpr auto bound = 8s;
constexpr auto lease = 60s;
constexpr auto fallback = 1h;

struct planned_cut {
    step const* where;
    break_kind how;
    std::size_t offset;
    bool from_end;
};

class cuts {
public:
    explicit cuts(asio::any_io_executor const& executor)
        : all_{
              executor,
              {.lanes = lanes,
               .timeout = timeout,
               .bound = bound,
               .lease = lease,
               .rivals_lease = lease,
               .fallback_poll_interval = fallback}
          } {}

    asio::awaitable<void> run() {
        auto const sizes = co_await all_.preflight();
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (is_asked_for(all_steps()[i].name)) {
                add_cuts(all_steps()[i], sizes[i]);
            }
        }
        auto const chosen = choose(planned_.size(), stride);
        std::function<campaign::wire_case(std::size_t)> const make_case =
            [this](std::size_t number) { return make(number); };
        co_await all_.run(chosen, make_case);
        say(chosen.size());
        all_.findings().check();
    }

private:
    void add_cuts(step const& where, std::size_t size) {
        BOOST_TEST(size > 0U, where.name);
        for (std::size_t at = 0; at <= size; ++at) {
            ++offsets_;
            // A message may be a digit longer in the next run: both its ends are cut.
            bool const from_end = at > size / 2;
            for (std::size_t how = 0; how < break_kinds; ++how) {
                planned_.push_back(
                    {&where, static_cast<break_kind>(how), from_end ? size - at : at, from_end}
                );
            }
        }
    }

    campaign::wire_case make(std::size_t number) {
        auto const& [where, how, offset, from_end] = planned_[number];
        ++done_[static_cast<std::size_t>(how)];
        return {where, make_break(how, offset, from_end)};
    }

    void say(std::size_t chosen) {
        std::string kinds;
        for (std::size_t how = 0; how < break_kinds; ++how) {
            kinds += fmt::format(
                "{}{} {}",
                how == 0 ? "" : ", ",
                name_of(static_cast<break_kind>(how)),
                done_[how]
            );
        }
        std::cout << fmt::format(
                         "wire cuts: {} offsets in {} messages, {} of {} cuts ({}), {}, "
                         "{} reconnects, {} withdrawals",
                         offsets_,
                         all_steps().size(),
                         chosen,
                         planned_.size(),
                         kinds,
                         all_.findings().summary(),
                         all_.reconnects(),
                         all_.withdrawals()
                     )
                  << std::endl;
    }

    campaign all_;
    std::vector<planned_cut> planned_;
    std::size_t offsets_ = 0;
    std::array<std::size_t, break_kinds> done_{};
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_cut_at_any_byte_of_any_reply) {
    run_with_deadline(
        [](asio::any_io_executor executor) -> asio::awaitable<void> {
            cuts all{executor};
            co_await all.run();
        },
        run_limit()
    );
}
