#include "support/contest.hpp"

#include "support/measure.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace holdfast::bench {

namespace {

using std::chrono::milliseconds;

// Enough to start the processes and to connect each.
milliseconds head_start(contest const& rules) {
    return milliseconds{400} + rules.processes() * milliseconds{25};
}

std::vector<std::string> arguments_for(
    side const& who,
    contest const& rules,
    std::string const& socket,
    std::int64_t start
) {
    return {
        "contend",
        "--socket",
        socket,
        "--name",
        // Each contest has a token counter of its own.
        "contest:" + std::to_string(start),
        "--kind",
        who.kind,
        "--coroutines",
        std::to_string(who.coroutines),
        "--hold-us",
        std::to_string(who.hold_us),
        "--pause-us",
        std::to_string(who.pause_us),
        "--port",
        std::to_string(who.port),
        "--start-at",
        std::to_string(start),
        "--duration-ms",
        std::to_string(rules.duration_ms),
    };
}

// Health checks do not count: a client that only waits sends as many.
std::vector<std::string_view> const lock_commands{"evalsha", "eval", "subscribe", "unsubscribe"};

void sleep_until_ns(std::int64_t at) {
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point{std::chrono::nanoseconds{at}
    });
}

void check(std::vector<turn> const& turns) {
    std::uint64_t greatest = 0;
    for (std::size_t i = 0; i < turns.size(); ++i) {
        auto const& t = turns[i];
        if (i > 0 && t.granted < turns[i - 1].releasing) {
            throw std::runtime_error{"two had the lock at a time"};
        }
        if (t.token != 0 && t.token <= greatest) {
            throw std::runtime_error{"a token did not grow"};
        }
        greatest = std::max(greatest, t.token);
    }
}

}  // namespace

int contest::processes() const noexcept {
    return std::accumulate(sides.begin(), sides.end(), 0, [](int sum, side const& s) {
        return sum + s.processes;
    });
}

contest_record hold_contest(environment& env, contest const& rules) {
    contest_record record;
    record.start = now_ns() + std::chrono::nanoseconds{head_start(rules)}.count();
    record.end = record.start + std::chrono::nanoseconds{milliseconds{rules.duration_ms}}.count();

    struct entrant {
        int side;
        test::child_process process;
    };
    std::vector<entrant> entrants;
    for (std::size_t s = 0; s < rules.sides.size(); ++s) {
        auto const& who = rules.sides[s];
        auto const words = arguments_for(who, rules, env.socket(), record.start);
        for (int i = 0; i < who.processes; ++i) {
            entrants.push_back({static_cast<int>(s), env.start_child(words)});
        }
    }

    // At first they connect, and subscribe.
    auto const settled = record.start + (record.end - record.start) / 10;
    sleep_until_ns(settled);
    auto const sent_before = env.calls(lock_commands);
    sleep_until_ns(record.end);
    auto const sent = static_cast<double>(env.calls(lock_commands) - sent_before);

    auto const limit = milliseconds{rules.duration_ms} + std::chrono::minutes{1};
    for (std::size_t i = 0; i < entrants.size(); ++i) {
        auto& e = entrants[i];
        std::istringstream lines{e.process.read_all(limit)};
        turn t{.side = e.side, .process = static_cast<int>(i)};
        while (lines >> t.token >> t.called >> t.granted >> t.releasing) {
            record.turns.push_back(t);
        }
        if (e.process.wait() != 0) {
            throw std::runtime_error{"a contending process failed"};
        }
    }
    std::sort(record.turns.begin(), record.turns.end(), [](turn const& a, turn const& b) {
        return a.granted < b.granted;
    });
    check(record.turns);
    auto const counted =
        std::count_if(record.turns.begin(), record.turns.end(), [&](turn const& t) {
            return t.granted >= settled && t.granted < record.end;
        });
    record.commands_a_grant = sent / static_cast<double>(std::max<std::ptrdiff_t>(counted, 1));
    return record;
}

double contest_record::milliseconds_a_grant() const noexcept {
    auto const count = static_cast<double>(std::max<std::size_t>(turns.size(), 1));
    return static_cast<double>(end - start) / 1e6 / count;
}

double contest_record::longest_wait_ms() const noexcept {
    std::int64_t longest = 0;
    for (auto const& t : turns) {
        longest = std::max(longest, t.granted - t.called);
    }
    return static_cast<double>(longest) / 1e6;
}

double contest_record::longest_wait_ms(int side) const noexcept {
    std::int64_t longest = 0;
    for (auto const& t : turns) {
        longest = std::max(longest, t.side == side ? t.granted - t.called : 0);
    }
    return static_cast<double>(longest) / 1e6;
}

double contest_record::longest_drought_ms(int processes) const {
    std::vector<std::int64_t> last(static_cast<std::size_t>(processes), start);
    std::int64_t longest = 0;
    for (auto const& t : turns) {
        auto& before = last[static_cast<std::size_t>(t.process)];
        longest = std::max(longest, std::min(t.granted, end) - before);
        before = t.granted;
    }
    for (auto const at : last) {
        longest = std::max(longest, end - at);
    }
    return static_cast<double>(longest) / 1e6;
}

double contest_record::percent_taken_back() const {
    // Backwards: who waits at a release is granted a later turn.
    std::map<int, std::int64_t> called;  // of the next turn of each process
    std::size_t contested = 0;
    std::size_t taken_back = 0;
    for (auto i = turns.size(); i-- > 1;) {
        called[turns[i].process] = turns[i].called;
        auto const& from = turns[i - 1];
        bool const wanted = std::any_of(called.begin(), called.end(), [&](auto const& next) {
            return next.first != from.process && next.second < from.releasing;
        });
        if (wanted) {
            ++contested;
            taken_back += turns[i].process == from.process ? 1 : 0;
        }
    }
    auto const of = static_cast<double>(std::max<std::size_t>(contested, 1));
    return 100.0 * static_cast<double>(taken_back) / of;
}

double contest_record::share_of(int side) const noexcept {
    auto const count =
        std::count_if(turns.begin(), turns.end(), [side](turn const& t) { return t.side == side; });
    return static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(turns.size(), 1));
}

}  // namespace holdfast::bench
