#include "soak/cell.hpp"

#include "soak/account.hpp"
#include "soak/leftovers.hpp"
#include "soak/settings.hpp"
#include "support/history/outages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace holdfast::soak {

using namespace std::chrono_literals;

namespace {

constexpr auto start_limit = 60s;
// Longer than the checker's patience, so that it is the checker who finds out who waits too long.
constexpr auto drain_limit = lease_time + 20s;
// What a dead worker held ends with its lease; connections need a moment to be made again. What is
// left for good is found after any time.
constexpr auto leftover_limit = lease_time + 9s;
// Less than the drift allowance of a lease.
constexpr nanos clock_tolerance = 5ms;

std::filesystem::path make_folder() {
    auto name = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::system_error{errno, std::generic_category(), "mkdtemp " + name};
    }
    return name;
}

std::string to_word(std::string text) {
    std::replace_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }, '_');
    return text;
}

// How far the wall clock, which servers judge leases by, is ahead of `lease_clock`.
std::int64_t wall_clock_offset() {
    timespec wall{};
    ::clock_gettime(CLOCK_REALTIME, &wall);
    return wall.tv_sec * 1'000'000'000 + wall.tv_nsec - now();
}

}  // namespace

cell::cell(cell_options options)
    : options_{std::move(options)},
      folder_{make_folder()},
      resource_history_{folder_ / "accesses"},
      checker_{rules{
          .permits = options_.shared == workload::permits ? permits_limit : 0,
          .quorum = options_.shared == workload::quorum || options_.shared == workload::pairs,
          .lease = lease_time,
          .loss_margin = notice_time,
          .grant_within = scaled(lease_time + 5s),
          .hand_over_within = std::min<nanos>(scaled(lease_time * 7 / 10), lease_time * 9 / 10),
          .service_within = scaled(2s),
          .observe_within = scaled(1s),
          .renew_within = lease_time / 6,
          .release_within = lease_time / 3,
          .slack = scaled(1s),
          .time_to_tell = scaled(100ms),
          .longest_block = scaled(200ms),
      }} {
    try {
        servers_ = make_servers(options_, folder_);
        options_.address = servers_->address();
        resource_.emplace(std::vector<std::string>{
            this_program(),
            "resource",
            "--socket",
            (folder_ / "resource").string(),
            "--history",
            (folder_ / "accesses").string()
        });
        if (resource_->read_line(scaled(start_limit)) != "ready") {
            throw std::runtime_error{"the protected resource does not start"};
        }
        look_for_what_is_there();
        for (int i = 0; i < options_.workers; ++i) {
            start_worker();
        }
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
        throw;
    }
}

cell::~cell() {
    workers_.clear();
    resource_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void cell::start_worker() {
    bool const hands_over = !options_.two_versions || !workers_.empty();
    auto& made = workers_.emplace_back(options_, ++last_worker_, hands_over, folder_);
    made.await_ready(scaled(start_limit));
}

worker_handle* cell::worker_of(std::string const& client_id) {
    for (auto& one : workers_) {
        if (one.client_id() == client_id) {
            return &one;
        }
    }
    return nullptr;
}

void cell::note(event e) {
    if (e.at == 0) {
        e.at = now();
    }
    bool const loses_rights = e.word == "deny" || e.word == "delete-user" || e.word == "password";
    bool const loses_writes = e.what == happening::failed_over;
    if (e.what == happening::killed || loses_writes ||
        (e.what == happening::fault && loses_rights)) {
        place_left_ = e.at;
    }
    events_.push_back(std::move(e));
}

void cell::note_change(change const& seen) {
    note({
        .at = seen.to,
        .what = seen.loses_writes() ? happening::failed_over : happening::switched,
        .deadline = seen.loses_writes() ? seen.last_lost : 0,
        .since = seen.since,
        .locks = seen.locks,
        .word = seen.migration ? "migration" : "failover",
    });
}

void cell::replace(worker_handle& dead) {
    auto last_words = dead.read_history();
    events_.insert(events_.end(), last_words.begin(), last_words.end());
    dead = worker_handle{options_, ++last_worker_, dead.hands_over(), folder_};
    dead.await_ready(scaled(start_limit));
    dead.go(scaled(start_limit));
}

cell::outcome cell::run(
    std::string const& fault,
    std::function<void()> const& strike,
    std::mt19937_64& random
) {
    auto const draw = [&](int from, int to) {
        return millis{std::uniform_int_distribution{from, to}(random)};
    };
    auto const offset = wall_clock_offset();
    servers_->mend(scaled(start_limit));
    auto const redirections = servers_->redirections();
    auto const primaries = servers_->primaries();
    send_to_work();
    if (!broken_) {
        std::this_thread::sleep_for(draw(100, 350));
        note({.what = happening::fault, .word = fault});
        suffer(strike);
        note({.what = happening::healed});
        std::this_thread::sleep_for(draw(0, 100));
    }
    if (!broken_ && !redirections.empty()) {
        watch_redirections(redirections);
    }
    if (!broken_) {
        drain();
    }
    servers_->settle(scaled(start_limit));
    look_for_other_changes(primaries);
    std::int64_t growth = 0;
    if (!broken_ && look_for_what_is_left()) {
        growth = measure_growth();
    }
    if (auto const moved = wall_clock_offset() - offset;
        moved > clock_tolerance.count() || -moved > clock_tolerance.count()) {
        note({.what = happening::clock_moved, .limit = moved});
    }
    collect();
    outcome result{
        .found = {},
        .history = std::exchange(events_, {}),
        .growth = growth,
        .broken = broken_,
        .failure = failure_
    };
    if (failure_.empty()) {
        result.found = checker_.check(result.history);
        if (!broken_) {
            look_for_silence(result);
        }
    }
    return result;
}

void cell::send_to_work() {
    for (auto& w : workers_) {
        try {
            w.go(scaled(start_limit));
        } catch (std::exception const& e) {
            broken_ = true;
            note({.what = happening::stuck, .process = w.number(), .word = to_word(e.what())});
        }
    }
}

// What fails may be the harm itself, or a worker.
void cell::suffer(std::function<void()> const& strike) {
    try {
        strike();
    } catch (unreadable const&) {
        throw;
    } catch (std::exception const& e) {
        broken_ = true;
        bool dead = false;
        for (auto& w : workers_) {
            if (!w.child().running()) {
                dead = true;
                note({.what = happening::died, .process = w.number(), .word = to_word(e.what())});
            }
        }
        if (!dead) {
            failure_ = e.what();
        }
    }
}

void cell::note_redirections(
    std::map<std::size_t, std::int64_t> const& before,
    std::map<std::size_t, std::int64_t> const& after,
    std::string const& when
) {
    std::int64_t sum = 0;
    for (auto const& [server, count] : after) {
        // One that was started in between has counted from nothing.
        auto const known = before.find(server);
        sum += known == before.end() || known->second > count ? count : count - known->second;
    }
    note({.what = happening::redirected, .limit = sum, .word = when});
}

void cell::watch_redirections(std::map<std::size_t, std::int64_t> const& before) {
    // A client that has been told once has learned all of it by then.
    constexpr auto time_to_learn = 400ms;
    constexpr auto time_to_err = 300ms;
    servers_->settle(scaled(start_limit));
    std::this_thread::sleep_for(time_to_learn);
    auto const known = servers_->redirections();
    note_redirections(before, known, "soon");
    std::this_thread::sleep_for(time_to_err);
    note_redirections(known, servers_->redirections(), "late");
}

// The cluster replaces a primary that got no processor for too long. That may happen at any time.
void cell::look_for_other_changes(std::vector<std::size_t> const& before) {
    auto const after = servers_->primaries();
    auto const made = std::count_if(after.begin(), after.end(), [&](std::size_t each) {
        return std::find(before.begin(), before.end(), each) == before.end();
    });
    auto const known = std::count_if(events_.begin(), events_.end(), [](event const& e) {
        return e.what == happening::failed_over ||
               (e.what == happening::switched && e.word == "failover");
    });
    if (!after.empty() && made != known && failure_.empty()) {
        broken_ = true;
        failure_ = "a node took over unasked";
    }
}

void cell::look_for_what_is_there() {
    for (auto const& what : what_is_there(*servers_)) {
        note({.what = happening::unclean, .word = to_word(what)});
    }
}

// A worker that has no processor, or waits for a disk, is not stuck.
nanos cell::time_it_had(std::optional<std::int64_t> process, instant since) const {
    outages stalls;
    for (auto const& e : events_) {
        if (e.what == happening::stalled && (!process || e.process == *process)) {
            stalls.add(e.since, e.at);
        }
    }
    return nanos{stalls.free_time(since, now())};
}

std::optional<levels> cell::await_drained(worker_handle& worker, instant asked) {
    for (;;) {
        if (auto const left = worker.await_drained(1s)) {
            return left;
        }
        collect();
        if (time_it_had(worker.number(), asked) > scaled(drain_limit)) {
            return std::nullopt;
        }
    }
}

void cell::drain() {
    auto const asked = now();
    for (auto& w : workers_) {
        w.ask_to_drain();
    }
    for (auto& w : workers_) {
        try {
            auto const left = await_drained(w, asked);
            if (!left) {
                broken_ = true;
                note({.what = happening::stuck, .process = w.number(), .word = "it_goes_on"});
            } else if (left->waiters != 0 || left->leases != 0 || left->subscriptions != 0) {
                auto const text = fmt::format(
                    "{}_waiters,{}_leases,{}_subscriptions",
                    left->waiters,
                    left->leases,
                    left->subscriptions
                );
                note({.what = happening::left_behind, .process = w.number(), .word = text});
            }
        } catch (std::exception const& e) {
            broken_ = true;
            note({.what = happening::died, .process = w.number(), .word = to_word(e.what())});
        }
    }
}

bool cell::look_for_what_is_left() {
    auto const since = now();
    auto const look = [this] {
        return what_is_left(
            *servers_,
            workers_,
            {.place_left = place_left_,
             .two_versions = options_.two_versions,
             .shared = options_.shared}
        );
    };
    auto left = look();
    while (!left.empty() && time_it_had({}, since) < scaled(leftover_limit)) {
        std::this_thread::sleep_for(20ms);
        collect();
        left = look();
    }
    for (auto const& what : left) {
        note({.what = happening::left_behind, .word = to_word(what)});
    }
    return left.empty();
}

// Each worker is granted something before it comes to an end. Nothing is checked of one whose
// history is empty.
void cell::look_for_silence(outcome& of) const {
    for (auto const& w : workers_) {
        bool const spoke = std::any_of(of.history.begin(), of.history.end(), [&](event const& e) {
            return e.what == happening::granted && e.process == w.number();
        });
        if (!spoke) {
            event const where{.at = now(), .process = w.number()};
            of.found.blame(rule::malformed, where, "worker {} was granted nothing", w.number());
        }
    }
}

std::int64_t cell::measure_growth() {
    std::int64_t most = 0;
    for (auto& w : workers_) {
        auto const now = w.measure();
        if (!w.at_first) {
            w.at_first = now;
        }
        most = std::max(most, now.memory - w.at_first->memory);
    }
    return most;
}

void cell::collect() {
    for (auto& w : workers_) {
        auto const said = w.read_history();
        events_.insert(events_.end(), said.begin(), said.end());
    }
    auto const accesses = resource_history_.read();
    events_.insert(events_.end(), accesses.begin(), accesses.end());
}

std::optional<std::string> cell::end() {
    for (auto& w : workers_) {
        if (auto const code = w.end(scaled(start_limit)); code != 0) {
            return fmt::format("worker {} ended with {}", w.number(), code);
        }
    }
    return std::nullopt;
}

}  // namespace holdfast::soak
