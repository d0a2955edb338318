#include "simulation/server.hpp"

#include "simulation/connection.hpp"
#include "simulation/script_commands.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::sim {

namespace {

thread_local server* current_server = nullptr;

constexpr std::int64_t start_of_time = 1'750'000'000'000'000;  // µs since 1970

}  // namespace

server::server(world& in, double rate)
    : in_{in},
      rate_{rate},
      primary_{&add("simulated", 6379, false)},
      named_{primary_},
      outer_{std::exchange(current_server, this)} {}

server::~server() {
    current_server = outer_;
}

server& server::current() noexcept {
    return *current_server;
}

std::int64_t server::wall_clock_of(machine const& which) const noexcept {
    auto const passed = static_cast<double>(in_.now().count()) * rate_;
    return start_of_time + (static_cast<std::int64_t>(passed) + which.clock_offset.count()) / 1'000;
}

nanos server::true_duration_of(std::chrono::milliseconds by_server) const noexcept {
    return nanos{static_cast<std::int64_t>(static_cast<double>(nanos{by_server}.count()) / rate_)};
}

chosen_database& server::data_of(machine& which) {
    which.data.set_time(wall_clock_of(which));
    return which.data;
}

route& server::route_of(std::uint32_t whose) {
    for (auto const& [number, route] : routes_) {
        if (number == whose) {
            return *route;
        }
    }
    return *routes_.emplace_back(whose, std::make_unique<route>()).second;
}

nanos server::delay(route const& on) {
    auto& dice = in_.dice();
    auto const usual =
        on.shortest == on.longest ? on.shortest : dice.any_scale(on.shortest, on.longest);
    return on.slower_by + (in_.chance(2, choice::delay) ? on.slow_by_factor * usual : usual);
}

std::vector<std::shared_ptr<link>> server::links() {
    std::vector<std::shared_ptr<link>> open;
    for (auto const& which : machines_) {
        auto& all = which->links;
        std::erase_if(all, [](auto const& one) { return one->session_ended_; });
        std::copy_if(all.begin(), all.end(), std::back_inserter(open), [](auto const& one) {
            return one->open();
        });
    }
    return open;
}

void server::close_all_of(std::uint32_t whose) {
    for (auto const& one : links()) {
        if (one->of() == whose) {
            one->close_by_client();
        }
    }
}

bool server::has_half_open(machine const& at) {
    auto const& all = at.links;
    return std::any_of(all.begin(), all.end(), [](auto const& one) {
        return !one->session_ended_;
    });
}

// A name is looked up at each attempt to connect.
machine& server::find(std::string const& host, std::string const& port) {
    for (auto const& which : machines_) {
        if (which->host == host && std::to_string(which->port) == port) {
            return *which;
        }
    }
    return *named_;
}

void server::connect(
    std::shared_ptr<connection> const& client,
    std::string const& host,
    std::string const& port,
    nanos limit
) {
    auto& at = find(host, port);
    auto& on = route_of(client->of().number());
    auto const arrived = std::make_shared<bool>(false);
    in_.after(limit, [weak = std::weak_ptr{client}, arrived] {
        if (auto const waiting = weak.lock(); waiting && !std::exchange(*arrived, true)) {
            waiting->on_failed(asio::error::timed_out);
        }
    });
    auto arrive = [this, &at, weak = std::weak_ptr{client}, arrived] {
        if (auto const waiting = weak.lock(); waiting && !std::exchange(*arrived, true)) {
            establish(at, waiting);
        }
    };
    if (on.stalled_to_server || on.stalled_to_client) {
        auto const which = on.stalled_to_server ? direction::to_server : direction::to_client;
        on.held(which).emplace_back(std::move(arrive));
    } else {
        in_.after(2 * delay(on), std::move(arrive));
    }
}

void server::establish(machine& at, std::shared_ptr<connection> const& client) {
    if (!at.up || at.refuses) {
        client->on_failed(asio::error::connection_refused);
        return;
    }
    auto const made = std::make_shared<link>(*this, at, client);
    made->session_ = at.data.connect([weak = std::weak_ptr{made}](value message) {
        if (auto const to = weak.lock()) {
            to->send_to_client(std::move(message));
        }
    });
    at.links.emplace_back(made);
    if (made->silent()) {
        made->watch_health();
    }
    client->on_connected(made);
}

void server::on_bytes(link& from) {
    if (!from.at_.paused && from.at_.up) {
        run_next(from);
    }
}

void server::run_next(link& from) {
    auto const keep = from.shared_from_this();
    while (!from.at_server_.empty() && !from.server_closed_) {
        auto const bytes = std::move(from.at_server_.front());
        from.at_server_.pop_front();
        auto const commands = commands_in(bytes);
        if (!commands) {
            // As the server does after a protocol error.
            from.close_by_server(asio::error::eof);
            break;
        }
        for (auto const& command : *commands) {
            if (!from.server_closed_) {
                run_command(from, command);
            }
        }
    }
    from.end_session();
}

void server::run_command(link& from, words const& command) {
    from.for_commands_ = from.for_commands_ || command[0] == "TIME";
    auto& at = from.at_;
    auto const script = script_of(command);
    auto const meant = [&](std::optional<std::string>& fault) {
        bool const hit = fault && !script.empty() && (fault->empty() || *fault == script);
        if (hit) {
            fault.reset();
            tell_of_fault();
        }
        return hit;
    };
    if (meant(break_before_)) {
        from.close_by_server(asio::error::connection_reset);
        return;
    }
    auto answer = execute(at, &from, from.of_, command, script);
    if (command[0] == "WAIT" && answer == value::integer(0) && has_replica(at)) {
        confirmed_ = writes_;
        answer = value::integer(1);
    }
    bool const known = !answer || answer->type != value::kind::error;
    if (known && twice_ && !script.empty() &&
        (twice_->script.empty() || twice_->script == script)) {
        auto const again = *std::exchange(twice_, std::nullopt);
        tell_of_fault();
        if (again.after > 0ns && is_counted(script)) {
            // What was answered is forgotten then, and does not come again.
        } else if (again.after == 0ns) {
            answer = execute(at, &from, from.of_, command, script, true);
        } else {
            run_again_later(at, from.of_, command, script, again.after);
        }
    }
    if (known && meant(break_after_)) {
        from.close_by_server(asio::error::connection_reset);
        return;
    }
    if (answer) {
        from.send_to_client(std::move(*answer));
    }
}

void server::run_again_later(
    machine& at,
    std::uint32_t from,
    words const& command,
    std::string_view script,
    nanos after
) {
    std::vector<std::string> const copy{command.begin(), command.end()};
    in_.after(after, [this, &at, from, copy, script, reign = promotions_] {
        words const again{copy.begin(), copy.end()};
        // A server that is demoted, or promoted, closes the connections on which it could come.
        if (at.up && reign == promotions_) {
            execute(at, nullptr, from, again, script, true);
        }
    });
}

std::optional<value> server::execute(
    machine& at,
    link const* from,
    std::uint32_t process,
    words const& command,
    std::string_view script,
    bool repeated
) {
    bool const several = script == "multi_lock.acquire";
    machine* const stray = counts(at) ? nullptr : &at;
    if (before_script && !stray) {
        for (auto const& lock : locks_given_by(command, script)) {
            before_script(several ? "lock.acquire" : script, lock);
        }
    }
    bool const refused = command[0] == "EVALSHA" && !at.refusals.empty();
    std::optional<value> answer;
    if (refused) {
        answer = value::error(std::move(at.refusals.front()));
        at.refusals.pop_front();
    } else {
        answer = data_of(at).execute(from ? from->session_ : at.ghost, command);
    }
    if (!script.empty()) {
        note_writes(at);
    }
    executing_ = &at;
    if (!script.empty() && answer && on_script) {
        for (auto const& one : deeds_of(command, script, *answer)) {
            // Whose permits were renewed together is looked at on a former primary only.
            if (one.lock.empty() && !stray) {
                continue;
            }
            on_script({
                .script = one.script,
                .does = one.does,
                .lock = one.lock,
                .holder = one.holder,
                .reply = &one.reply,
                .from = process,
                .over = from ? from->session_ + (std::uint64_t{at.number} << 48U) : 0,
                .late = !from || from->client_closed_,
                .again = command[0] == "EVAL",
                .repeated = repeated,
                .stray = stray,
                .queues = one.queues,
                .extends = one.extends,
            });
        }
        if (script.ends_with("renew_many") && on_renewed_together) {
            on_renewed_together();
        } else if (several && on_taken_together && !answer->is_error()) {
            on_taken_together();
        }
    } else if ((command[0] == "SUBSCRIBE" || command[0] == "SSUBSCRIBE") && on_subscribe &&
               !stray) {
        on_subscribe(process, command[1]);
    }
    executing_ = nullptr;
    return answer;
}

}  // namespace holdfast::sim
