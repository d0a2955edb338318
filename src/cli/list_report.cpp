#include "cli/list_report.hpp"

#include "cli/duration.hpp"
#include "cli/inspect.hpp"
#include "protocol/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace holdfast::cli {

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

// Of what has no known holder.
std::string state_of(found_lock const& what) {
    if (what.permits) {
        return fmt::format("{} free, {} taken", what.permits->available, what.permits->acquired);
    }
    if (what.number) {
        return what.kind == lock_kind::latch ? fmt::format("count {}", *what.number)
                                             : fmt::format("{} free", *what.number);
    }
    return "free";
}

std::vector<cells> lines_of(listed_lock const& row) {
    auto const& what = row.what;
    std::vector<cells> made;
    auto const add = [&](std::optional<lock_info> const& info, std::string_view side) {
        if (info && info->held) {
            auto& line = made.emplace_back();
            line[2] = detail::escaped(info->holder, 128).append(side);
            line[3] = info->remaining ? format_duration(*info->remaining) : "for ever";
            line[7] = row.client
                          ? fmt::format("{} at {}", row.client->client_name, row.client->address)
                          : "";
        }
    };
    add(what.lock, what.readers ? " (write)" : "");
    if (what.readers) {
        auto const readers = what.readers->readers;
        add(what.readers,
            readers > 1 ? fmt::format(" (one of {} readers)", readers) : std::string{" (read)"});
    }
    if (made.empty()) {
        made.emplace_back()[2] = state_of(what);
    }
    auto& first = made.front();
    first[0] = detail::escaped(row.name);
    first[1] = to_string(what.kind);
    first[4] = row.age ? format_duration(*row.age) : "";
    first[5] =
        what.lock && what.lock->last_token.value != 0 ? to_string(what.lock->last_token) : "";
    first[6] = std::to_string(what.waiting());
    return made;
}

}  // namespace

std::string table_of(std::vector<listed_lock> const& rows, style const& colours) {
    std::vector<cells> all;
    for (auto const& row : rows) {
        std::ranges::move(lines_of(row), std::back_inserter(all));
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

boost::json::object json_of(listed_lock const& row) {
    auto made = json_of(row.name, row.what, row.client);
    if (row.age) {
        made["age_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(*row.age).count();
    }
    made["server"] = row.server;
    return made;
}

}  // namespace holdfast::cli
