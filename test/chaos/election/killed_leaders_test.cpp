// One leader among five processes. It is killed, and another one leads when its lease has ended. No
// two may act at a time, no two terms may be the same, and observers must see each term.

#include "election/term_record.hpp"
#include "support/child_process.hpp"
#include "support/one_server.hpp"
#include "support/scratch_file.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {

constexpr int processes = 5;
constexpr std::chrono::milliseconds lease{1'000};

bool full() {
    auto const* const wanted = std::getenv("HOLDFAST_ELECTION");
    return wanted != nullptr && std::string{wanted} == "full";
}
int kills() {
    return full() ? 100 : 6;
}
// From a kill to the next leader. A busy machine stands still for longer than any promise.
std::chrono::milliseconds longest_vacancy() {
    return full() ? lease + 1s : 30s;
}

class workers {
public:
    workers(std::string url, std::string record)
        : url_{std::move(url)},
          record_{std::move(record)} {
        for (int i = 0; i < processes; ++i) {
            start();
        }
    }
    /// Another one comes in its place.
    void kill(std::int64_t process) {
        running_.at(process).kill();
        running_.erase(process);
        start();
    }
    void stop() {
        for (auto& [number, one] : running_) {
            one.close_input();
        }
        for (auto& [number, one] : running_) {
            BOOST_TEST(one.wait(30s) == 0);
        }
    }

private:
    void start() {
        child_options options;
        options.standard_input = child_input::pipe;
        auto const number = ++started_;
        std::vector<std::string> const arguments{
            HOLDFAST_ELECTION_WORKER,
            url_,
            record_,
            std::to_string(number),
            std::to_string(lease.count())
        };
        running_.emplace(number, child_process{arguments, options});
    }

    std::string url_;
    std::string record_;
    std::int64_t started_ = 0;
    std::map<std::int64_t, child_process> running_;
};

struct seen {
    std::vector<std::uint64_t> terms;
    int missed = 0;
    int unknown_processes = 0;
};

task observe(holdfast::leader_observer observer, std::shared_ptr<seen> all) {
    for (;;) {
        auto const [ec, change] = co_await observer.next(as_result);
        if (ec) {
            break;
        }
        all->missed += change.missed ? 1 : 0;
        if (change.leader) {
            all->terms.push_back(change.leader.term.value);
            all->unknown_processes += std::stoi(change.leader.value) < 1 ? 1 : 0;
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_term_has_one_leader_and_observers_see_each_term) {
    auto const body = [](redis_server& server, asio::any_io_executor executor) -> task {
        scratch_file const file{"election"};
        term_record const record{file.path()};
        holdfast::client first{executor, server.url()};
        holdfast::client second{executor, server.url()};
        auto const by_first = std::make_shared<seen>();
        auto const by_second = std::make_shared<seen>();
        auto const watch = [&](holdfast::client& client, std::shared_ptr<seen> const& by) {
            auto observer = client.election("scheduler").observe();
            asio::co_spawn(executor, observe(std::move(observer), by), asio::detached);
        };
        watch(first, by_first);
        watch(second, by_second);
        workers all{server.url(), file.path()};

        auto probe = server.probe();
        std::chrono::nanoseconds longest{0};
        lease_clock::time_point killed_at{};
        std::uint64_t last_term = 0;
        for (int i = 0; i <= kills(); ++i) {
            auto const succeeded = [&] {
                auto const last = record.last();
                return last && last->number > last_term;
            };
            BOOST_REQUIRE(co_await co_eventually(60s, succeeded));
            auto const leader = *record.last();
            last_term = leader.number;
            if (i > 0) {
                longest = std::max(longest, leader.begin() - killed_at);
            }
            if (i == kills()) {
                break;
            }
            if (i % 5 == 2) {
                // Candidates and observers are away for a moment.
                probe.client_kill_type("pubsub");
            }
            co_await sleep_for(std::chrono::milliseconds{50 * (i % 4)});
            killed_at = lease_clock::now();
            all.kill(leader.process);
        }
        BOOST_TEST(longest <= longest_vacancy());

        auto const terms = record.terms();
        std::set<std::uint64_t> different;
        for (auto const& one : terms) {
            different.insert(one.number);
        }
        BOOST_TEST(different.size() == terms.size());
        BOOST_TEST(terms.size() > static_cast<std::size_t>(kills()));
        BOOST_TEST(record.intrusions() == 0);
        for (auto const& by : {by_first, by_second}) {
            auto const saw_the_last = [&] {
                return !by->terms.empty() && by->terms.back() >= last_term;
            };
            BOOST_TEST(co_await co_eventually(30s, saw_the_last));
            BOOST_TEST(by->missed == 0);
            BOOST_TEST(by->unknown_processes == 0);
            // In order, and each once.
            BOOST_TEST(std::ranges::is_sorted(by->terms, std::less_equal<>{}));
            BOOST_TEST(std::ranges::includes(by->terms, different));
        }
        all.stop();
        std::printf(
            "%d processes, %d kills: %zu terms, a new leader %lld ms after a kill at the latest\n",
            processes,
            kills(),
            terms.size(),
            static_cast<long long>(std::chrono::ceil<std::chrono::milliseconds>(longest).count())
        );
    };
    with_server(body, kills() * 4s + 120s);
}
