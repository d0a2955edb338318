#ifndef HOLDFAST_TEST_UNIT_PROTOCOL_SEMAPHORE_WORLD_HPP
#define HOLDFAST_TEST_UNIT_PROTOCOL_SEMAPHORE_WORLD_HPP

#include "protocol/semaphore.hpp"
#include "unit/calls.hpp"
#include "unit/memory_server/asking.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test::semaphore_scripts {

using namespace std::chrono_literals;
using namespace holdfast::detail;
using holdfast::memory::asking;
using std::chrono::milliseconds;

inline constexpr milliseconds waiter_patience{2'000};

inline holder_id holder(std::uint64_t number) {
    return {"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", number << 1U};
}

inline std::string const deadlines = "{L}:timeout";
inline std::string const queue = "holdfast_semaphore_queue:{L}";
inline std::string const turns = "holdfast_semaphore_turns:{L}";
inline std::string const channel = "redisson_sc:{L}";

/// The scripts of the semaphore L, run by the model of a server.
struct semaphore_world : asking {
    semaphore_world() { server.execute(session, {"SUBSCRIBE", channel, turns}); }

    script_reply run(call what) {
        what.arg("n");
        std::vector<std::string> words{
            "EVAL",
            std::string{what.what().text},
            std::to_string(what.keys())
        };
        for (std::size_t i = 0; i < what.size(); ++i) {
            words.emplace_back(what.word(i));
        }
        std::vector<std::string_view> const views{words.begin(), words.end()};
        pushes.clear();
        auto const answer = server.execute(session, views).value();
        BOOST_TEST(!answer.is_error(), answer.describe());
        return script_reply{answer.text};
    }
    attempt_reply acquire(
        std::uint64_t who,
        std::int64_t count = 1,
        bool waits = false,
        milliseconds lease = 30s,
        bool preflight = false,
        std::int64_t limit = 0
    ) {
        auto const on = with_permits(target_, count);
        return speaks.read_acquire(run(speaks.acquire({
            .on = on,
            .id = holder(who),
            .lease = lease,
            .counter_ttl = 24h,
            .preflight = preflight,
            .timeout = 3s,
            .window = waits ? waiter_patience : 0ms,
            .patience = waiter_patience,
            .limit = limit,
        })));
    }
    bool granted(std::uint64_t who, std::int64_t count = 1, bool waits = false) {
        return acquire(who, count, waits).what == attempt_reply::kind::granted;
    }
    bool release(std::uint64_t who, std::int64_t count = 1, bool leaves = false) {
        auto const on = with_permits(target_, count);
        auto const sent = speaks.release({
            .on = on,
            .id = holder(who),
            .timeout = 3s,
            .window = leaves ? waiter_patience : 0ms,
        });
        return speaks.read_release(run(sent)).lost == loss_reason::none;
    }
    bool renew(std::uint64_t who, std::int64_t count = 1, milliseconds lease = 30s) {
        auto const on = with_permits(target_, count);
        auto const sent =
            speaks.renew({.on = on, .id = holder(who), .lease = lease, .timeout = 3s});
        return speaks.read_renew(run(sent)).lost == loss_reason::none;
    }
    set_permits_reply set(std::int64_t limit) {
        return read_set_permits(run(set_permits(target_, limit, 3s)));
    }
    std::string free() { return server.get("L").value_or("none"); }
    std::int64_t taken() { return ask({"ZCARD", deadlines}).number; }
    std::int64_t waiting() { return ask({"ZCARD", queue}).number; }
    /// The score of one permit.
    std::string till(std::uint64_t who, std::uint32_t index = 0) {
        return ask({"ZSCORE", deadlines, permit_id{holder(who), index}.view()}).text;
    }
    void pass(milliseconds time) { server.set_time(server.time() + time.count() * ms); }
    std::string now(milliseconds later = 0ms) const {
        return std::to_string(server.time() / ms + later.count());
    }
    /// What was published by the last script.
    std::string said(std::string const& where) const {
        std::string all;
        for (auto const& one : pushes) {
            if (one.elements.size() == 3 && one.elements[1].text == where) {
                all += (all.empty() ? "" : ",") + one.elements[2].text;
            }
        }
        return all;
    }
    static std::string turn_of(std::uint64_t who) { return std::string{holder(who).view()}; }

    primitive const& speaks = semaphore_protocol();
    target target_ = make_semaphore_target("", "L");
};

}  // namespace holdfast::test::semaphore_scripts

#endif
