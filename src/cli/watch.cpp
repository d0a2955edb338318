#include "cli/watch.hpp"

#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/lock_channels.hpp"
#include "cli/messages.hpp"
#include "protocol/target.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/json/object.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace holdfast::cli {

namespace {

std::uint64_t token_of(found_lock const& found) {
    auto const lock = found.lock ? found.lock->last_token.value : 0;
    return std::max(lock, found.readers ? found.readers->last_token.value : 0);
}

void add_holders(std::vector<lock_event>& to, found_lock const& before, found_lock const& after) {
    using kind = lock_event::kind;
    std::string const was{before.holder()};
    std::string const is{after.holder()};
    fencing_token const token{token_of(after)};
    if (is.empty() && !was.empty()) {
        to.push_back({kind::released, was, fencing_token{token_of(before)}});
    } else if (is != was) {
        to.push_back({was.empty() ? kind::granted : kind::handed_over, is, token});
    }
}

void add_number(
    std::vector<lock_event>& to,
    lock_event::kind what,
    std::int64_t before,
    std::int64_t after
) {
    if (before != after) {
        to.push_back({.what = what, .number = after});
    }
}

std::int64_t readers_of(found_lock const& found) {
    return found.readers ? static_cast<std::int64_t>(found.readers->readers) : 0;
}

std::string sentence_of(lock_event const& event) {
    using kind = lock_event::kind;
    auto const holder = detail::escaped(event.holder, 128);
    switch (event.what) {
        case kind::granted:
            return fmt::format("granted to {}, token {}", holder, event.token.value);
        case kind::handed_over:
            return fmt::format("handed over to {}, token {}", holder, event.token.value);
        case kind::released: return fmt::format("free, was held by {}", holder);
        case kind::waiting: return fmt::format("{} waiting", event.number);
        case kind::readers: return fmt::format("{} reading", event.number);
        case kind::permits: return fmt::format("{} permits taken", event.number);
        case kind::number: return fmt::format("the number is {}", event.number);
    }
    return {};
}

void print(
    context const& on,
    std::string_view name,
    lock_event const& event,
    std::chrono::nanoseconds since
) {
    if (!on.json) {
        auto const time = fmt::format("{:>9}", "+" + format_duration(since));
        on.out << on.colours.faint(time) << "  " << sentence_of(event) << '\n' << std::flush;
        return;
    }
    using std::chrono::milliseconds;
    boost::json::object line{
        {"name", json_text(name)},
        {"event", to_string(event.what)},
        {"after_ms", std::chrono::duration_cast<milliseconds>(since).count()},
    };
    if (!event.holder.empty()) {
        line["holder"] = json_text(event.holder);
        line["token"] = event.token.value;
    } else {
        line["number"] = event.number;
    }
    print_json(on.out, line);
}

}  // namespace

std::string_view to_string(lock_event::kind what) noexcept {
    switch (what) {
        case lock_event::kind::granted: return "granted";
        case lock_event::kind::handed_over: return "handed_over";
        case lock_event::kind::released: return "released";
        case lock_event::kind::waiting: return "waiting";
        case lock_event::kind::readers: return "readers";
        case lock_event::kind::permits: return "permits";
        case lock_event::kind::number: return "number";
    }
    return "unknown";
}

std::vector<lock_event> events_between(found_lock const* before, found_lock const& after) {
    using kind = lock_event::kind;
    found_lock const nothing;
    auto const& was = before != nullptr ? *before : nothing;
    std::vector<lock_event> all;
    add_holders(all, was, after);
    add_number(all, kind::readers, readers_of(was), readers_of(after));
    add_number(
        all,
        kind::permits,
        was.permits ? was.permits->acquired : 0,
        after.permits ? after.permits->acquired : 0
    );
    add_number(all, kind::number, was.number.value_or(0), after.number.value_or(0));
    add_number(
        all,
        kind::waiting,
        static_cast<std::int64_t>(was.waiting()),
        static_cast<std::int64_t>(after.waiting())
    );
    return all;
}

asio::awaitable<int> watch(context const& on, watch_options const& options) {
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client const client{executor, on.config};
    lock_channels channels{client, on.config, options.name};
    auto const begin = lease_clock::now();
    auto const end =
        options.duration.count() > 0 ? begin + options.duration : lease_clock::time_point::max();
    std::optional<found_lock> before;
    bool reachable = true;
    for (auto now = begin; now < end; now = lease_clock::now()) {
        error_code ec;
        auto found = co_await find_lock(client, options.name, options.kind, ec);
        if (ec && (!before || !is_retryable(ec))) {
            say(on, fmt::format("cannot watch {}: {}", quoted_name(options.name), ec.message()));
            co_return to_int(exit_code_of(ec));
        }
        if (ec && reachable) {
            say(on, fmt::format("cannot see {}: {}", quoted_name(options.name), ec.message()));
        }
        reachable = !ec;
        if (!ec) {
            auto const* const earlier = before ? &*before : nullptr;
            for (auto const& event : events_between(earlier, found)) {
                print(on, options.name, event, lease_clock::now() - begin);
            }
            before = std::move(found);
        }
        auto const look = lease_clock::now() + options.interval;
        co_await channels.wait(std::min(end, look));
    }
    co_return to_int(exit_code::success);
}

}  // namespace holdfast::cli
