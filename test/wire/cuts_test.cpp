// The connection fails at a byte of a reply: at every byte of every kind of reply, in each way.
//
// HOLDFAST_WIRE=full runs all of the cuts, otherwise it is every n-th of them, from a start that is
// drawn: HOLDFAST_WIRE_SEED sets it. HOLDFAST_WIRE_ONLY names one step of the scenario.

#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "wire/plan.hpp"
#include "wire/scenario.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
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
constexpr std::size_t stride = 13;
#endif
constexpr auto bound = 8s;

holdfast::config settings_of(switchboard const& board, std::string const& name) {
    auto settings = holdfast::parse_url(board.url());
    settings.client_name = name;
    settings.lease = 60s;
    settings.fallback = 1h;
    settings.request_timeout = timeout;
    settings.connect_timeout = 2s;
    settings.health_check_interval = timeout;
    settings.reconnect_min = 1ms;
    settings.reconnect_max = 20ms;
    return settings;
}

holdfast::config patient(holdfast::config settings) {
    settings.request_timeout = 5s;
    settings.health_check_interval = 5s;
    return settings;
}

struct planned_cut {
    step const* where;
    break_kind how;
    std::size_t offset;
    bool from_end;
};

class cuts {
public:
    explicit cuts(asio::any_io_executor const& executor)
        : executor_{executor},
          board_{server_.unix_socket()},
          probe_{server_.probe()},
          rival_{executor, patient(settings_of(board_, "rival"))},
          stage_{executor, board_, probe_, rival_, findings_, timeout, bound} {}

    asio::awaitable<void> run() {
        co_await record();
        if (findings_.count(violation::missed) == 0) {
            co_await run_all();
            co_await look_at_the_end();
        }
        say();
        findings_.check();
    }

private:
    // Without a fault: how long each message is, and that all is well then.
    asio::awaitable<void> record() {
        std::string const name = "record";
        holdfast::client client{executor_, patient(settings_of(board_, name))};
        co_await client.ready(asio::use_awaitable);
        for (auto const& each : all_steps()) {
            if (each.message == message_kind::health) {
                // The patient client has no use for one.
                sizes_.push_back(health_reply_size);
                continue;
            }
            auto const one =
                std::make_shared<exchange>(stage_, client, name, next_key(), each, std::nullopt);
            co_await one->run();
            sizes_.push_back(one->message_size());
        }
        BOOST_TEST(client.stats().reconnects == probe_steps);
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            add_cuts(all_steps()[i], sizes_[i]);
        }
    }

    void add_cuts(step const& where, std::size_t size) {
        if (!is_asked_for(where.name)) {
            return;
        }
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

    asio::awaitable<void> run_all() {
        chosen_ = choose(planned_.size(), stride);
        int running = 0;
        for (int i = 0; i < lanes; ++i) {
            ++running;
            asio::co_spawn(executor_, lane(i), [&running](std::exception_ptr failure) {
                BOOST_TEST(!failure);
                --running;
            });
        }
        auto const done = [&running] { return running == 0; };
        BOOST_TEST(co_await co_eventually(run_limit(), done));
    }

    asio::awaitable<void> lane(int number) {
        auto const name = fmt::format("c{:03}", number);
        auto client = std::make_unique<holdfast::client>(executor_, settings_of(board_, name));
        co_await client->ready(asio::use_awaitable);
        while (next_ < chosen_.size()) {
            auto const& [where, how, offset, from_end] = planned_[chosen_[next_++]];
            auto const fault = make_break(how, offset, from_end);
            auto const one =
                std::make_shared<exchange>(stage_, *client, name, next_key(), *where, fault);
            bool const usable = co_await one->run();
            ++done_[static_cast<std::size_t>(how)];
            if (!usable) {
                client = std::make_unique<holdfast::client>(executor_, settings_of(board_, name));
            }
            if (next_ % forget_every == 0) {
                board_.proxy().forget_closed();
            }
        }
        auto const quiet = [&client] { return client->stats().subscriptions_now == 0; };
        bool const unsubscribed = co_await co_eventually(bound, quiet);
        if (!unsubscribed) {
            findings_.add(violation::left_behind, name, "a subscription in the client");
        }
        reconnects_ += client->stats().reconnects;
        withdrawals_ += client->stats().withdrawals;
        co_await client->shutdown(asio::use_awaitable);
    }

    asio::awaitable<void> look_at_the_end() {
        auto const quiet = [this] { return rival_.stats().subscriptions_now == 0; };
        BOOST_TEST(co_await co_eventually(bound, quiet));
        BOOST_TEST(rival_.stats().waiters_now == 0U);
        BOOST_TEST(rival_.stats().leases_now == 0U);
        BOOST_TEST(rival_.stats().reconnects == 0U);
        BOOST_TEST(probe_.lock_keys().empty());
        auto const nobody_subscribes = [this] { return probe_.pubsub_channels().empty(); };
        BOOST_TEST(co_await co_eventually(bound, nobody_subscribes));
    }

    void say() const {
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
                         sizes_.size(),
                         chosen_.size(),
                         planned_.size(),
                         kinds,
                         findings_.summary(),
                         reconnects_,
                         withdrawals_
                     )
                  << std::endl;
    }

    std::string next_key() { return "key-" + std::to_string(++keys_); }

    static constexpr std::size_t health_reply_size = 14;  // "$8", "holdfast"
    static constexpr std::size_t probe_steps = 7;
    static constexpr std::size_t forget_every = 32;

    asio::any_io_executor executor_;
    redis_server server_;
    switchboard board_;
    redis_probe probe_;
    holdfast::client rival_;
    report findings_;
    stage stage_;
    std::vector<std::size_t> sizes_;  // by step
    std::vector<planned_cut> planned_;
    std::vector<std::size_t> chosen_;
    std::size_t next_ = 0;
    std::size_t keys_ = 0;
    std::size_t offsets_ = 0;
    std::array<std::size_t, break_kinds> done_{};
    std::uint64_t reconnects_ = 0;
    std::uint64_t withdrawals_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_cut_at_any_byte_of_any_reply) {
    run_with_deadline(
        [](asio::any_io_executor executor) -> asio::awaitable<void> {
            cuts all{executor};
            co_await all.run();
        },
        run_limit() + 10s
    );
}
