#include "cli/list.hpp"

#include "cli/exit_code.hpp"
#include "cli/found_lock.hpp"
#include "cli/list_report.hpp"
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

asio::awaitable<connections_by_client> find_clients(server_session& on, listing& to) {
    request ask;
    ask.push("CLIENT", "LIST");
    auto asking = on.ask(ask);
    auto const replies = co_await std::move(asking);
    auto const& reply = replies.front();
    if (reply.is_error) {
        to.remarks.push_back(
            "who the holders are is not shown, which needs CLIENT LIST: " +
            detail::loggable(reply.error)
        );
    }
    co_return connections_in(reply.text(0));
}

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

row_kind kind_of_number(candidate const& seen) {
    bool const latch = seen.has(row_kind::latch);
    if (latch != seen.has(row_kind::counting_semaphore)) {
        return latch ? row_kind::latch : row_kind::counting_semaphore;
    }
    return latch || seen.has(row_kind::counted) ? row_kind::counted : row_kind::number;
}

row_kind kind_of_lock(found_lock const& found, candidate const& seen) {
    switch (found.kind) {
        case lock_kind::read_write: return row_kind::read_write_lock;
        case lock_kind::semaphore: return row_kind::semaphore;
        case lock_kind::fair: return row_kind::fair_lock;
        default: break;
    }
    return seen.has(row_kind::fair_lock) ? row_kind::fair_lock : row_kind::lock;
}

// What may be a name of several kinds is tried as one after the other.
lock_kind kind_to_ask_for(candidate const& seen) {
    bool const plain = seen.has(row_kind::lock) || seen.has(row_kind::fair_lock);
    return plain                                 ? lock_kind::automatic
           : seen.has(row_kind::read_write_lock) ? lock_kind::read_write
                                                 : lock_kind::semaphore;
}

// False if it is held by what is no client: it is something else.
bool add_holder(
    lock_row& to,
    std::optional<lock_info> const& info,
    std::string_view side,
    connections_by_client const& clients
) {
    if (!info) {
        return true;
    }
    to.token = std::max(to.token, info->last_token.value);
    to.readers = std::max<std::uint64_t>(to.readers, info->readers);
    if (!info->held) {
        return true;
    }
    auto const client = client_id_of(info->holder);
    holder_row made{info->holder, std::string{side}, info->remaining, info->hold_count};
    if (auto const who = clients.find(client); who != clients.end()) {
        made.who = who->second;
    }
    to.holders.push_back(std::move(made));
    return !client.empty();
}

asio::awaitable<error_code> inspect_one(
    holdfast::client const& by,
    candidates::value_type const& one,
    connections_by_client const& clients,
    std::vector<lock_row>& to
) {
    auto const& [name, seen] = one;
    lock_row row{.name = name};
    if (!seen.may_be_lock() && !seen.has(row_kind::semaphore)) {
        row.kind = kind_of_number(seen);
        row.number = seen.number;
        row.waiting = seen.listeners;
    } else {
        error_code ec;
        auto finding = find_lock(by, name, kind_to_ask_for(seen), ec);
        auto const found = co_await std::move(finding);
        if (ec) {
            co_return ec;
        }
        row.kind = kind_of_lock(found, seen);
        bool const both = found.kind == lock_kind::read_write;
        if (!add_holder(row, found.lock, both ? "write" : "", clients) ||
            !add_holder(row, found.readers, "read", clients)) {
            co_return errc::corrupt_state;
        }
        row.waiting = found.waiting();
        if (found.permits) {
            if (!found.permits->limit) {
                co_return errc::corrupt_state;
            }
            row.number = found.permits->available;
            row.taken = found.permits->acquired;
        }
    }
    // A latch that nobody has set is open, and a semaphore without a number has no permits.
    if (!row.holders.empty() || row.number || row.waiting > 0) {
        to.push_back(std::move(row));
    }
    co_return error_code{};
}

struct inspection {
    std::vector<lock_row> rows = {};
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
    list_options const& options,
    listing& to
) {
    auto& server = *one.session;
    auto finding = find_clients(server, to);
    auto const clients = co_await std::move(finding);
    scan_options wanted{
        .pattern = pattern_of(server.settings().key_prefix) + options.pattern,
        .numbers = options.numbers,
        .sharded = server.dialect() == detail::script_dialect::sharded,
    };
    auto scanning = scan_for_locks(server, std::move(wanted));
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
        if (!row.holders.empty()) {
            row.age = age_of(row.token, now);
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

asio::awaitable<listing> find_locks(config const& settings, list_options const& options) {
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
            auto finding = find_on(one, client, options, made);
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
    std::sort(made.rows.begin(), made.rows.end(), [](lock_row const& a, lock_row const& b) {
        return a.name < b.name;
    });
    co_return made;
}

asio::awaitable<int> list(context const& with, list_options const& options) {
    auto finding = find_locks(with.config, options);
    auto const found = co_await std::move(finding);
    if (with.json) {
        for (auto const& row : found.rows) {
            with.out << json_of(row) << '\n';
        }
    } else if (!found.rows.empty()) {
        with.out << table_of(found.rows, with.colours);
    } else if (!found.cause) {
        with.err << "no locks\n";
    }
    for (auto const& remark : found.remarks) {
        with.err << "holdfast: " << remark << '\n';
    }
    co_return to_int(exit_code_of(found.cause));
}

}  // namespace holdfast::cli
