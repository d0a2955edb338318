#include "cli/list.hpp"

#include "cli/exit_code.hpp"
#include "cli/list_report.hpp"
#include "cli/lock_keys.hpp"
#include "cli/lock_reader.hpp"
#include "cli/lock_scan.hpp"
#include "cli/primaries.hpp"
#include "cli/server_texts.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace holdfast::cli {

namespace asio = boost::asio;
using boost::redis::request;
using detail::raw_reply;

namespace {

// So many names are asked about at once.
constexpr std::size_t batch_size = 200;

using batch = std::span<std::pair<std::string, candidate> const>;

std::uint64_t time_in(raw_reply const& reply) {
    auto const seconds = whole_number<std::uint64_t>(reply.text(0));
    auto const micros = whole_number<std::uint64_t>(reply.text(1));
    return !reply.is_error && seconds && micros ? *seconds * 1'000'000 + *micros : 0;
}

bool is_sharded(server_session const& server) {
    constexpr int sharding_version = 7;
    auto const wanted = server.settings().cluster_channels;
    return server.server().mode == "cluster" && wanted != cluster_channel_kind::plain &&
           (wanted == cluster_channel_kind::sharded || server.server().major >= sharding_version);
}

asio::awaitable<clients_by_id> find_clients(server_session& on, listing& to) {
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
        co_return clients_by_id{};
    }
    co_return clients_in(reply.text(0));
}

// What the user may not ask would look as if it were not there.
void throw_if_forbidden(std::vector<raw_reply> const& replies) {
    for (auto const& reply : replies) {
        if (reply.is_error && detail::classify(reply.error).error == errc::no_permission) {
            throw boost::system::system_error{
                make_error_code(errc::no_permission),
                detail::loggable(reply.error)
            };
        }
    }
}

// The hash of a read/write lock lives as long as its last holder. Each reader has a key of its own.
asio::awaitable<void> find_ends_of_readers(server_session& on, std::span<lock_row> rows) {
    request ask;
    std::vector<holder_row*> readers;
    for (auto& row : rows) {
        for (auto& holder : row.holders) {
            if (holder.side == "read") {
                ask.push("PTTL", row_look::hold_key(row.name, holder.id));
                readers.push_back(&holder);
            }
        }
    }
    if (readers.empty()) {
        co_return;
    }
    auto asking = on.ask(ask);
    auto const replies = co_await std::move(asking);
    for (std::size_t i = 0; i < std::min(replies.size(), readers.size()); ++i) {
        if (auto const left = number_of(replies[i]); left && *left >= 0) {
            readers[i]->remaining = std::chrono::milliseconds{*left};
        }
    }
}

asio::awaitable<std::vector<lock_row>> read_batch(
    server_session& on,
    batch names,
    clients_by_id const& clients
) {
    bool const sharded = is_sharded(on);
    request first;
    for (auto const& [name, seen] : names) {
        name_look::ask(first, name);
    }
    auto looking = on.ask(first);
    auto const looked = co_await std::move(looking);
    throw_if_forbidden(looked);

    request second;
    second.push("TIME");
    std::vector<row_look> looks;
    for (std::size_t i = 0; i < names.size(); ++i) {
        name_look const found{
            std::span{looked}.subspan(i * name_look::questions, name_look::questions)
        };
        looks.emplace_back(names[i].first, names[i].second, found, sharded);
        looks.back().ask(second);
    }
    auto reading = on.ask(second);
    auto const replies = co_await std::move(reading);
    surroundings const in{&clients, time_in(replies.front()), sharded};
    std::vector<lock_row> rows;
    std::size_t at = 1;
    for (auto const& one : looks) {
        auto const count = one.questions();
        if (auto row = one.read(std::span{replies}.subspan(at, count), in)) {
            rows.push_back(std::move(*row));
        }
        at += count;
    }
    auto finding = find_ends_of_readers(on, rows);
    co_await std::move(finding);
    co_return rows;
}

asio::awaitable<void> find_on(primary const& one, list_options const& options, listing& to) {
    auto& server = *one.session;
    auto const& prefix = server.settings().key_prefix;
    auto finding = find_clients(server, to);
    auto const clients = co_await std::move(finding);
    scan_options const wanted{
        .pattern = pattern_of(prefix) + options.pattern,
        .numbers = options.numbers,
        .sharded = is_sharded(server),
    };
    auto scanning = scan_for_locks(server, wanted);
    auto const found = co_await std::move(scanning);
    std::vector<std::pair<std::string, candidate>> const all{found.begin(), found.end()};
    for (std::size_t i = 0; i < all.size(); i += batch_size) {
        batch const some{all.data() + i, std::min(batch_size, all.size() - i)};
        auto reading = read_batch(server, some, clients);
        auto rows = co_await std::move(reading);
        for (auto& row : rows) {
            row.name.erase(0, prefix.size());
            row.server = one.address;
            to.rows.push_back(std::move(row));
        }
    }
}

}  // namespace

void drop_false_twins(std::vector<lock_row>& rows) {
    std::map<std::string, bool> is_bare;
    for (auto const& row : rows) {
        is_bare.emplace(row.name, row.is_bare());
    }
    std::erase_if(rows, [&](lock_row const& row) {
        auto const twin = is_bare.find(twin_of(row.name));
        return row.is_bare() && twin != is_bare.end() &&
               (!twin->second || row.name.starts_with('{'));
    });
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
    for (auto const& one : all.all) {
        if (!one.session) {
            note(one.cause, one.address + ": " + one.why);
            continue;
        }
        try {
            auto finding = find_on(one, options, made);
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
    drop_false_twins(made.rows);
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
