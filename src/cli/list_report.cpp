#include "cli/list_report.hpp"

#include "cli/duration.hpp"
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

std::string who_is(holder_connection const& who) {
    return who.client_name.empty() ? who.address
                                   : fmt::format("{} at {}", who.client_name, who.address);
}

std::string state_of(lock_row const& row) {
    if (row.number) {
        switch (row.kind) {
            case row_kind::semaphore:
                return fmt::format("{} free, {} taken", *row.number, row.taken);
            case row_kind::counting_semaphore: return fmt::format("{} free", *row.number);
            case row_kind::latch: return fmt::format("count {}", *row.number);
            default: return std::to_string(*row.number);
        }
    }
    return "free";
}

cells line_of(holder_row const& holder, std::uint64_t readers) {
    cells made;
    made[2] = holder.id;
    if (holder.side == "read" && readers > 1) {
        made[2] += fmt::format(" (one of {} readers)", readers);
    } else if (!holder.side.empty()) {
        made[2] += fmt::format(" ({})", holder.side);
    }
    made[3] = holder.remaining ? format_duration(*holder.remaining) : "for ever";
    made[7] = who_is(holder.who);
    return made;
}

std::vector<cells> lines_of(lock_row const& row) {
    std::vector<cells> made;
    if (row.holders.empty()) {
        made.emplace_back()[2] = state_of(row);
    }
    for (auto const& holder : row.holders) {
        made.push_back(line_of(holder, row.readers));
    }
    auto& first = made.front();
    first[0] = detail::escaped(row.name);
    first[1] = name_of(row.kind);
    first[4] = row.age ? format_duration(*row.age) : "";
    first[5] = row.token == 0 ? "" : std::to_string(row.token);
    first[6] = std::to_string(row.waiting);
    return made;
}

}  // namespace

std::string_view name_of(row_kind kind) noexcept {
    switch (kind) {
        case row_kind::lock: return "lock";
        case row_kind::fair_lock: return "fair lock";
        case row_kind::read_write_lock: return "read/write lock";
        case row_kind::semaphore: return "semaphore";
        case row_kind::counting_semaphore: return "counting semaphore";
        case row_kind::latch: return "latch";
        case row_kind::counted: return "latch or counting semaphore";
        case row_kind::number: break;
    }
    return "number";
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
        json::object one{{"id", json_text(holder.id)}};
        if (!holder.who.client_name.empty()) {
            one["program"] = json_text(holder.who.client_name);
        }
        if (!holder.who.address.empty()) {
            one["address"] = holder.who.address;
        }
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
    if (row.kind == row_kind::read_write_lock) {
        made["readers"] = row.readers;
    }
    if (row.kind == row_kind::semaphore) {
        made["taken"] = row.taken;
    }
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
    return json::serialize(made);
}

}  // namespace holdfast::cli
