#include "campaign.hpp"

#include "plan.hpp"
#include "support/run.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

namespace {

using std::chrono::milliseconds;

// Closed connections cost the proxy time.
constexpr std::size_t forget_every = 32;

}  // namespace

campaign::campaign(asio::any_io_executor const& executor, terms const& how)
    : executor_{executor},
      terms_{how},
      board_{server_.unix_socket()},
      probe_{server_.probe()},
      rival_{executor, patient("rival")},
      beat_{executor, rival_},
      stage_{executor, board_, probe_, rival_, how.timeout, how.bound} {}

config campaign::settings_of(std::string const& name) const {
    auto settings = parse_url(board_.url());
    settings.client_name = name;
    settings.lease = terms_.lease;
    settings.fallback_poll_interval = terms_.fallback_poll_interval;
    settings.request_timeout = terms_.timeout;
    settings.connect_timeout = terms_.lease / 4;
    settings.health_check_interval = terms_.timeout;
    settings.reconnect_min = milliseconds{1};
    settings.reconnect_max = milliseconds{20};
    return settings;
}

config campaign::patient(std::string const& name) const {
    auto settings = settings_of(name);
    settings.lease = terms_.rivals_lease;
    settings.request_timeout = terms_.rivals_lease / 4;
    settings.connect_timeout = terms_.rivals_lease / 4;
    settings.health_check_interval = milliseconds{5000};
    return settings;
}

asio::awaitable<std::vector<std::size_t>> campaign::preflight() {
    subject tested{"preflight"};
    tested.by = std::make_unique<client>(executor_, patient(tested.name));
    auto sizes = co_await test::preflight(stage_, *tested.by, tested.name, findings_);
    // Those of the probes.
    BOOST_TEST(tested.by->stats().reconnects == 7U);
    co_await retire(tested, *findings_);
    reconnects_ = withdrawals_ = 0;
    co_return sizes;
}

asio::awaitable<void> campaign::run(
    std::vector<std::size_t> const& chosen,
    std::function<wire_case(std::size_t)> const& make
) {
    chosen_ = chosen;
    make_ = make;
    began_ = lease_clock::now();
    int running = terms_.lanes;
    for (int i = 0; i < terms_.lanes; ++i) {
        asio::co_spawn(executor_, lane(fmt::format("c{:03}", i)), [&](std::exception_ptr failure) {
            BOOST_TEST(!failure);
            --running;
        });
    }
    while (running != 0) {
        co_await sleep_for(milliseconds{5});
    }
    co_await look_at_the_end();
}

asio::awaitable<void> campaign::lane(std::string name) {
    subject tested{std::move(name)};
    while (next_ < chosen_.size()) {
        auto const one = make_(chosen_[next_++]);
        std::function<asio::awaitable<void>(std::shared_ptr<report>)> const run =
            [&](std::shared_ptr<report> findings) {
                return run_case(tested, one, std::move(findings));
            };
        co_await until_undisturbed(*findings_, beat_, terms_.timeout / 2, run);
        if (next_ % forget_every == 0) {
            board_.proxy().forget_closed();
        }
    }
    co_await retire(tested, *findings_);
}

asio::awaitable<void> campaign::run_case(
    subject& tested,
    wire_case const& one,
    std::shared_ptr<report> findings
) {
    // No check is sent while a withdrawal of the case before is under way: the answer to it proves
    // an error, too.
    if (one.own_client || one.where->message == message_kind::check) {
        co_await retire(tested, *findings);
    }
    if (!tested.by) {
        co_await start(tested);
    }
    tested.was_lied_to = tested.was_lied_to || one.what.lies;
    auto const key = fmt::format("key-{}", ++keys_);
    auto const run = std::make_shared<exchange>(
        stage_,
        *tested.by,
        tested.name,
        key,
        findings,
        *one.where,
        one.what
    );
    bool const usable = co_await run->run();
    if (!usable) {
        tested.by.reset();
    } else if (one.own_client) {
        co_await retire(tested, *findings);
    }
}

asio::awaitable<void> campaign::start(subject& tested) {
    tested.by = std::make_unique<client>(executor_, settings_of(tested.name));
    tested.was_lied_to = false;
    co_await tested.by->ready(asio::use_awaitable);
}

asio::awaitable<void> campaign::retire(subject& tested, report& findings) {
    if (!tested.by) {
        co_return;
    }
    auto const by = std::exchange(tested.by, nullptr);
    auto const quiet = [&by] { return by->stats().subscriptions_now == 0; };
    bool const unsubscribed = co_await co_eventually(terms_.bound, quiet);
    if (!unsubscribed) {
        findings.add(violation::left_behind, tested.name, "a subscription in the client");
    }
    auto const done = by->stats();
    reconnects_ += done.reconnects;
    withdrawals_ += done.withdrawals;
    auto const [ec] = co_await by->shutdown(asio::as_tuple(asio::use_awaitable));
    // It cannot know what became of a release that it was told to be refused.
    bool const in_doubt = tested.was_lied_to && ec == errc::release_unknown;
    if (ec && !in_doubt) {
        findings.add(violation::left_behind, tested.name, "shutdown: " + ec.message());
    }
}

// Nothing but token counters is left.
asio::awaitable<void> campaign::look_at_the_end() {
    auto const no_locks = [this] { return probe_.lock_keys().empty(); };
    // What a client left that was given up goes with its lease.
    BOOST_TEST(co_await co_eventually(terms_.lease + terms_.bound, no_locks));
    auto const quiet = [this] { return rival_.stats().subscriptions_now == 0; };
    BOOST_TEST(co_await co_eventually(terms_.bound, quiet));
    BOOST_TEST(rival_.stats().waiters_now == 0U);
    BOOST_TEST(rival_.stats().leases_now == 0U);
    // A machine that stands still for longer than a request may take ends a connection, too.
    bool const stood_still = beat_.longest_since(began_) > patient("").request_timeout;
    BOOST_TEST((rival_.stats().reconnects == 0U || stood_still));
    auto const nobody_subscribes = [this] { return probe_.pubsub_channels().empty(); };
    BOOST_TEST(co_await co_eventually(terms_.bound, nobody_subscribes));
}

}  // namespace holdfast::test
