#include "cli/inspect.hpp"

#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/messages.hpp"
#include "protocol/target.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

namespace holdfast::cli {

namespace json = boost::json;

namespace {

json::value number_or_null(std::uint64_t number) {
    return number == 0 ? json::value{nullptr} : json::value{number};
}

json::value time_or_null(lock_info const& info) {
    return info.remaining ? json::value{info.remaining->count()} : json::value{nullptr};
}

std::string line(std::string_view what, std::string_view value) {
    return fmt::format("  {:<10} {}\n", what, value);
}

std::string expiry_of(lock_info const& info, style const& colours) {
    if (info.never_expires) {
        return colours.bad("never: nobody else gets it until it is released by force");
    }
    return info.remaining ? "in " + format_duration(*info.remaining) : "-";
}

std::string place_of(holder_connection const& connection) {
    return fmt::format("{} at {}", quoted_name(connection.client_name), connection.address);
}

void add_lock(
    std::string& text,
    lock_info const& info,
    style const& colours,
    std::optional<holder_connection> const& connection
) {
    if (info.held) {
        text += line("holder", detail::escaped(info.holder, 128));
        if (connection) {
            text += line("client", place_of(*connection));
        }
        if (info.hold_count > 1) {
            text += line("holds", std::to_string(info.hold_count));
        }
        text += line("expires", expiry_of(info, colours));
    }
    if (info.last_token.value != 0) {
        text += line("token", to_string(info.last_token));
    }
}

}  // namespace

json::object json_of(
    std::string_view name,
    found_lock const& found,
    std::optional<holder_connection> const& connection
) {
    json::object all{
        {"name", json_text(name)},
        {"kind", to_string(found.kind)},
        {"held", found.held()},
        {"waiting", found.waiting()},
    };
    if (auto const& info = found.lock ? found.lock : found.readers) {
        auto const& holding = found.readers && found.readers->held ? *found.readers : *info;
        all["holder"] =
            holding.held ? json::value{json_text(holding.holder)} : json::value{nullptr};
        all["hold_count"] = holding.hold_count;
        all["remaining_ms"] = time_or_null(holding);
        all["never_expires"] = holding.never_expires;
        all["last_token"] = number_or_null(info->last_token.value);
    }
    if (found.readers) {
        all["readers"] = found.readers->readers;
    }
    if (found.permits) {
        all["limit"] =
            found.permits->limit ? json::value{*found.permits->limit} : json::value{nullptr};
        all["available"] = found.permits->available;
        all["acquired"] = found.permits->acquired;
    }
    if (found.number) {
        all["number"] = *found.number;
    }
    if (connection) {
        all["client"] = json::object{
            {"name", json_text(connection->client_name)},
            {"address", connection->address},
        };
    }
    return all;
}

std::string text_of(
    std::string_view name,
    found_lock const& found,
    std::optional<holder_connection> const& connection,
    style const& colours
) {
    std::string text = fmt::format(
        "{}  {}\n",
        colours.strong(quoted_name(name)),
        found.number   ? std::string{}
        : found.held() ? colours.warning("held")
                       : colours.good("free")
    );
    if (found.kind != lock_kind::automatic) {
        text += line("kind", to_string(found.kind));
    }
    if (found.readers && found.readers->held) {
        text += line("readers", std::to_string(found.readers->readers));
        add_lock(text, *found.readers, colours, connection);
    } else if (found.lock) {
        add_lock(text, *found.lock, colours, connection);
    }
    if (found.permits) {
        auto const& permits = *found.permits;
        auto const limit = permits.limit ? std::to_string(*permits.limit) : "unknown";
        text += line("permits", fmt::format("{} of {} taken", permits.acquired, limit));
        text += line("available", std::to_string(permits.available));
    }
    if (found.number) {
        text += line("number", std::to_string(*found.number));
    } else {
        text += line("waiting", std::to_string(found.waiting()));
    }
    return text;
}

asio::awaitable<int> inspect(context const& on, name_options const& options) {
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client const client{executor, on.config};
    error_code ec;
    auto const found = co_await find_lock(client, options.name, options.kind, ec);
    if (ec) {
        say(on, fmt::format("cannot inspect {}: {}", quoted_name(options.name), ec.message()));
        co_return to_int(exit_code_of(ec));
    }
    std::optional<holder_connection> connection;
    if (!found.holder().empty()) {
        connection = co_await connection_of(on, found.holder());
    }
    if (on.json) {
        print_json(on.out, json_of(options.name, found, connection));
    } else {
        on.out << text_of(options.name, found, connection, on.colours) << std::flush;
    }
    co_return to_int(exit_code::success);
}

}  // namespace holdfast::cli
