#include "cli/list_report.hpp"

#include "cli/json.hpp"
#include "protocol/target.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace holdfast::cli {

namespace json = boost::json;

namespace {

constexpr std::size_t columns = 8;
using cells = std::array<std::string, columns>;

constexpr std::array<std::string_view, columns> titles{
    "NAME",
    "KIND",
    "HOLDER",
    "LEFT",
    "AGE",
    "TOKEN",
    "WAITING",
    "WHO",
};

std::string who_is(client_info const& who) {
    if (who.program.empty()) {
        return who.address;
    }
    return who.address.empty() ? who.program : fmt::format("{} at {}", who.program, who.address);
}

std::string state_of(lock_row const& row) {
    if (row.number) {
        switch (row.kind) {
            case row_kind::semaphore:
            case row_kind::counting_semaphore: return fmt::format("{} free", *row.number);
            case row_kind::latch: return fmt::format("count {}", *row.number);
            default: return std::to_string(*row.number);
        }
    }
    return "free";
}

cells line_of(holder_row const& holder) {
    cells made;
    made[2] = holder.side.empty() ? holder.id : fmt::format("{} ({})", holder.id, holder.side);
    made[3] = holder.remaining ? short_time(*holder.remaining) : "for ever";
    made[7] = who_is(holder.who);
    return made;
}

std::vector<cells> lines_of(lock_row const& row) {
    std::vector<cells> made;
    bool const counts = row.number.has_value();
    if (row.holders.empty() || counts) {
        made.emplace_back()[2] = state_of(row);
    }
    for (auto const& holder : row.holders) {
        made.push_back(line_of(holder));
    }
    auto& first = made.front();
    first[0] = detail::escaped(row.name);
    first[1] = name_of(row.kind);
    first[4] = row.age ? short_time(*row.age) : "";
    first[5] = row.token == 0 ? "" : std::to_string(row.token);
    first[6] = std::to_string(row.waiting);
    return made;
}

json::object json_of_client(std::string_view id, client_info const& who) {
    json::object made{{"id", json_text(id)}};
    if (!who.program.empty()) {
        made["program"] = who.program;
    }
    if (!who.address.empty()) {
        made["address"] = who.address;
    }
    return made;
}

}  // namespace

std::string short_time(std::chrono::nanoseconds time) {
    using namespace std::chrono_literals;
    auto const in = [time](std::chrono::nanoseconds unit, std::string_view name) {
        return fmt::format("{} {}", time / unit, name);
    };
    return time < 1s     ? in(1ms, "ms")
           : time < 2min ? in(1s, "s")
           : time < 2h   ? in(1min, "min")
           : time < 48h  ? in(1h, "h")
                         : in(24h, "d");
}

std::string table_of(std::vector<lock_row> const& rows, style const& colours) {
    std::vector<cells> all;
    for (auto const& row : rows) {
        auto lines = lines_of(row);
        std::move(lines.begin(), lines.end(), std::back_inserter(all));
    }
    std::array<std::size_t, columns> width{};
    for (std::size_t i = 0; i < columns; ++i) {
        width[i] = titles[i].size();
        for (auto const& one : all) {
            width[i] = std::max(width[i], one[i].size());
        }
    }
    auto const joined = [&](auto const& some) {
        std::string text;
        for (std::size_t i = 0; i < columns; ++i) {
            text += fmt::format("{:<{}}  ", some[i], width[i]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        return text;
    };
    std::string text = colours.strong(joined(titles)) + "\n";
    for (auto const& one : all) {
        text += joined(one) + "\n";
    }
    return text;
}

std::string json_of(lock_row const& row) {
    json::object made{
        {"name", json_text(row.name)},
        {"kind", name_of(row.kind)},
        {"server", row.server}
    };
    json::array holders;
    for (auto const& holder : row.holders) {
        auto one = json_of_client(holder.id, holder.who);
        if (!holder.side.empty()) {
            one["side"] = holder.side;
        }
        one["count"] = holder.count;
        // Null: it has no end.
        one["remaining_ms"] =
            holder.remaining ? json::value{holder.remaining->count()} : json::value{};
        holders.push_back(std::move(one));
    }
    made["holders"] = std::move(holders);
    if (row.number) {
        made["number"] = *row.number;
    }
    if (row.token != 0) {
        made["token"] = row.token;
    }
    if (row.age) {
        made["age_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(*row.age).count();
    }
    made["waiting"] = row.waiting;
    json::array waiters;
    for (auto const& waiter : row.waiters) {
        waiters.push_back(json_of_client(waiter.id, waiter.who));
    }
    made["waiters"] = std::move(waiters);
    return json::serialize(made);
}

}  // namespace holdfast::cli
