#include "cli/list.hpp"

#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/lock_scan.hpp"
#include "cli/messages.hpp"
#include "cli/primaries.hpp"
#include "cli/server_texts.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::cli {

using boost::redis::request;

namespace {

// In microseconds; zero: it is not known.
asio::awaitable<std::uint64_t> ask_for_time(server_session& from) {
    request ask;
    ask.push("TIME");
    auto asking = from.ask(ask);
    auto const replies = co_await std::move(asking);
    auto const seconds = whole_number<std::uint64_t>(replies.front().text(0));
    auto const micros = whole_number<std::uint64_t>(replies.front().text(1));
    bool const known = seconds && micros;
    co_return known ? *seconds * 1'000'000 + *micros : 0;
}

// What may be a name of several kinds is tried as one after the other.
lock_kind kind_to_ask_for(candidate const& seen) {
    if (seen.has(lock_kind::lock) || seen.has(lock_kind::fair_lock)) {
        return lock_kind::automatic;
    }
    for (auto const kind :
         {lock_kind::read_write_lock, lock_kind::semaphore, lock_kind::counting_semaphore}) {
        if (seen.has(kind)) {
            return kind;
        }
    }
    return lock_kind::latch;
}

// Programs may have something else under the name: `errc::corrupt_state`.
asio::awaitable<error_code> inspect_one(
    holdfast::client const& by,
    candidates::value_type const& one,
    connections_by_client const& clients,
    std::vector<listed_lock>& to
) {
    auto const& [name, seen] = one;
    error_code ec;
    auto finding = find_lock(by, name, kind_to_ask_for(seen), ec);
    auto found = co_await std::move(finding);
    if (ec) {
        co_return ec;
    }
    listed_lock row{.name = name, .what = std::move(found)};
    auto& what = row.what;
    if (what.kind == lock_kind::automatic || what.kind == lock_kind::lock) {
        // A free lock, and a fair lock without waiters, look like a lock.
        what.kind = seen.has(lock_kind::fair_lock) ? lock_kind::fair_lock : lock_kind::lock;
    }
    if (what.permits && !what.permits->limit) {
        co_return errc::corrupt_state;
    }
    if (auto const holder = what.holder(); !holder.empty()) {
        auto const client = client_id_of(holder);
        if (client.empty()) {
            co_return errc::corrupt_state;
        }
        if (auto const who = clients.find(client); who != clients.end()) {
            row.client = who->second;
        }
    }
    if (what.kind == lock_kind::latch || what.kind == lock_kind::counting_semaphore) {
        what.listeners = seen.listeners;
    }
    if (what.held() || what.permits || what.waiting() > 0) {
        to.push_back(std::move(row));
    }
    co_return error_code{};
}

struct inspection {
    std::vector<listed_lock> rows = {};
    // Locks that could not be inspected, and the first of them.
    std::size_t failed = 0;
    std::string first = {};
    error_code why = {};
};

// Several at once. Permissions may differ from lock to lock; any other error concerns all.
asio::awaitable<inspection> inspect_all(
    holdfast::client const& by,
    candidates const& all,
    connections_by_client const& clients
) {
    constexpr std::size_t at_once = 64;
    auto const executor = co_await asio::this_coro::executor;
    inspection made;
    auto const start = [&](candidates::value_type const& one) {
        return asio::co_spawn(executor, inspect_one(by, one, clients, made.rows), asio::deferred);
    };
    auto const goes_on = [&] { return !made.why || made.why == errc::no_permission; };
    for (auto at = all.begin(); at != all.end() && goes_on();) {
        auto const first = at;
        std::vector<decltype(start(*at))> some;
        for (; at != all.end() && some.size() < at_once; ++at) {
            some.push_back(start(*at));
        }
        auto group = asio::experimental::make_parallel_group(std::move(some));
        auto inspecting =
            std::move(group).async_wait(asio::experimental::wait_for_all{}, asio::deferred);
        auto const [order, thrown, failures] = co_await std::move(inspecting);
        for (std::size_t i = 0; i < failures.size(); ++i) {
            if (thrown[i]) {
                std::rethrow_exception(thrown[i]);
            }
            bool const is_no_lock =
                failures[i] == errc::corrupt_state || failures[i] == errc::invalid_name;
            if (failures[i] && !is_no_lock && made.failed++ == 0) {
                made.why = failures[i];
                made.first = std::next(first, static_cast<std::ptrdiff_t>(i))->first;
            }
        }
    }
    co_return made;
}

asio::awaitable<void> find_on(
    primary const& one,
    holdfast::client const& by,
    std::string const& pattern,
    listing& to
) {
    auto& server = *one.session;
    std::string refusal;
    auto asking_who = ask_for_connections(server, refusal);
    auto const clients = co_await std::move(asking_who);
    if (!refusal.empty()) {
        to.remarks.push_back(
            "who the holders are is not shown, which needs CLIENT LIST: " + refusal
        );
    }
    auto scanning = scan_for_locks(server, pattern_of(server.settings().key_prefix) + pattern);
    auto const found = co_await std::move(scanning);
    auto inspecting = inspect_all(by, found, clients);
    auto inspected = co_await std::move(inspecting);
    if (inspected.why) {
        to.cause = to.cause ? to.cause : inspected.why;
        to.remarks.push_back(fmt::format(
            "{}: {} of {} names could not be inspected, {} first: {}",
            one.address,
            inspected.failed,
            found.size(),
            quoted_name(inspected.first),
            inspected.why.message()
        ));
    }
    auto asking = ask_for_time(server);
    auto const now = co_await std::move(asking);
    for (auto& row : inspected.rows) {
        if (!row.what.holder().empty()) {
            row.age = age_of(row.what.lock->last_token.value, now);
        }
        row.server = one.address;
        to.rows.push_back(std::move(row));
    }
}

}  // namespace

std::optional<std::chrono::microseconds> age_of(
    std::uint64_t token,
    std::uint64_t server_time
) noexcept {
    // 2001. Tokens of Java's own begin at 1.
    constexpr std::uint64_t first_time = 1'000'000'000'000'000;
    if (token < first_time || token > server_time) {
        return std::nullopt;
    }
    return std::chrono::microseconds{server_time - token};
}

asio::awaitable<listing> find_locks(config const& settings, std::string const& pattern) {
    listing made;
    auto opening = open_primaries(settings);
    auto const all = co_await std::move(opening);
    auto const note = [&made](error_code cause, std::string remark) {
        made.cause = made.cause ? made.cause : cause;
        made.remarks.push_back(std::move(remark));
    };
    if (all.all.empty()) {
        note(all.cause, all.why);
    }
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client const client{executor, settings};
    for (auto const& one : all.all) {
        if (!one.session) {
            note(one.cause, one.address + ": " + one.why);
            continue;
        }
        try {
            auto finding = find_on(one, client, pattern, made);
            co_await std::move(finding);
        } catch (boost::system::system_error const& e) {
            bool const ours = e.code().category() == error_category();
            // In the server's words, without what the code says of itself.
            std::string why = e.what();
            if (auto const end = why.find(": " + e.code().message()); end != std::string::npos) {
                why.erase(end);
            }
            note(ours ? e.code() : make_error_code(errc::unreachable), one.address + ": " + why);
        }
    }
    std::sort(made.rows.begin(), made.rows.end(), [](listed_lock const& a, listed_lock const& b) {
        return a.name < b.name;
    });
    co_return made;
}

asio::awaitable<int> list(context const& with, std::string const& pattern) {
    auto finding = find_locks(with.config, pattern);
    auto const found = co_await std::move(finding);
    if (with.json) {
        for (auto const& row : found.rows) {
            print_json(with.out, json_of(row));
        }
    } else if (!found.rows.empty()) {
        with.out << table_of(found.rows, with.colours);
    } else if (!found.cause) {
        with.err << "no locks\n";
    }
    for (auto const& remark : found.remarks) {
        say(with, remark);
    }
    co_return to_int(exit_code_of(found.cause));
}

}  // namespace holdfast::cli
