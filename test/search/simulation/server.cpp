#include "simulation/server.hpp"

#include "protocol/reply.hpp"
#include "protocol/scripts.hpp"
#include "simulation/connection.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

namespace holdfast::sim {

namespace {

thread_local server* current_server = nullptr;

constexpr std::int64_t start_of_time = 1'750'000'000'000'000;  // µs since 1970

// The commands of what was written at once: arrays of bulk strings. Nothing, if it is not that.
std::optional<std::vector<std::vector<std::string_view>>> commands_in(std::string_view bytes) {
    auto const number = [&bytes](char kind) -> std::optional<std::size_t> {
        auto const end = bytes.find("\r\n");
        std::size_t value = 0;
        if (bytes.empty() || bytes.front() != kind || end == std::string_view::npos) {
            return std::nullopt;
        }
        std::from_chars(bytes.data() + 1, bytes.data() + end, value);
        bytes.remove_prefix(end + 2);
        return value;
    };
    std::vector<std::vector<std::string_view>> commands;
    while (!bytes.empty()) {
        auto const words = number('*');
        auto& command = commands.emplace_back();
        for (std::size_t i = 0; words && i < *words; ++i) {
            auto const size = number('$');
            if (!size || *size + 2 > bytes.size()) {
                return std::nullopt;
            }
            command.push_back(bytes.substr(0, *size));
            bytes.remove_prefix(*size + 2);
        }
        if (command.empty()) {
            return std::nullopt;
        }
    }
    return commands;
}

// Its name, if a command runs a script of the library.
std::string_view script_of(std::vector<std::string_view> const& command) {
    namespace scripts = detail::scripts;
    static std::array const known{
        &scripts::lock_acquire,
        &scripts::lock_take_over,
        &scripts::lock_release,
        &scripts::lock_renew,
        &scripts::lock_renew_many,
        &scripts::lock_inspect,
        &scripts::lock_force_release,
        &scripts::fair_lock_acquire,
        &scripts::fair_lock_release,
        &scripts::fair_lock_inspect,
        &scripts::fair_lock_force_release,
        &scripts::semaphore_acquire,
        &scripts::semaphore_release,
        &scripts::semaphore_renew,
        &scripts::semaphore_renew_many,
        &scripts::semaphore_inspect,
        &scripts::semaphore_set_permits,
        &scripts::semaphore_force_release,
        &scripts::counted_read,
        &scripts::counted_try_set,
        &scripts::latch_count_down,
        &scripts::counting_semaphore_acquire,
        &scripts::counting_semaphore_withdraw,
        &scripts::counting_semaphore_add,
        &scripts::counting_semaphore_drain,
        &scripts::multi_lock_acquire,
        &scripts::quorum_lock_acquire,
        &scripts::quorum_lock_raise_token,
        &scripts::read_lock_acquire,
        &scripts::read_lock_release,
        &scripts::read_lock_renew,
        &scripts::read_lock_renew_many,
        &scripts::write_lock_acquire,
        &scripts::write_lock_release,
        &scripts::read_write_lock_inspect,
        &scripts::read_write_lock_force_release,
    };
    if (command.size() > 2 && (command[0] == "EVALSHA" || command[0] == "EVAL")) {
        for (auto const* one : known) {
            if (command[1] == (command[0] == "EVAL" ? one->text : one->sha1)) {
                return one->name;
            }
        }
    }
    return {};
}

// What follows the kind of the lock.
std::string_view deed_of(std::vector<std::string_view> const& command, std::string_view script) {
    if (script.ends_with("_lock.acquire") && script != "quorum_lock.acquire") {
        auto const keys = static_cast<std::size_t>(command[2][0] - '0');
        constexpr std::size_t orphan = 7;
        return command.at(3 + keys + orphan).empty() ? "acquire" : "take_over";
    }
    return script.substr(std::min(script.find('.') + 1, script.size()));
}

bool is_counted(std::string_view script) {
    return script.starts_with("counted.") || script.starts_with("latch.") ||
           script.starts_with("counting_semaphore.");
}

bool respects_queue(std::vector<std::string_view> const& command) {
    return std::any_of(command.begin() + 3, command.end(), [](std::string_view word) {
        return word.starts_with("holdfast_queue:");
    });
}

// A writer's field is its holder id, and more.
std::string_view holder_of(std::string_view field) {
    constexpr std::string_view more = ":write";
    return field.substr(0, field.size() - (field.ends_with(more) ? more.size() : 0));
}

std::string_view holder_in(std::vector<std::string_view> const& command, std::string_view script) {
    // After the keys' number come the keys and then the arguments.
    auto const keys = static_cast<std::size_t>(command[2][0] - '0');
    bool const comes_first = script.ends_with("lock.release") || script.ends_with("raise_token");
    std::size_t const at = 3 + keys + (comes_first ? 0 : 1);
    return at < command.size() ? holder_of(command[at]) : std::string_view{};
}

bool extends(std::vector<std::string_view> const& command, std::string_view script) {
    auto const keys = static_cast<std::size_t>(command[2][0] - '0');
    return script.ends_with("lock.renew") && command.at(3 + keys) != "0";
}

std::size_t keys_in(std::vector<std::string_view> const& command) {
    std::size_t keys = 0;
    std::from_chars(command[2].data(), command[2].data() + command[2].size(), keys);
    return keys;
}

// One of several that a script is about: what was said of it, as if it had been alone.
struct single_deed {
    std::string_view lock;
    std::string_view holder;
    value reply;
};

std::vector<single_deed> renewals_in(
    std::vector<std::string_view> const& command,
    value const& answer,
    std::size_t keys_of_each
) {
    auto const keys = keys_in(command);
    detail::script_reply const said{answer.text};
    std::vector<single_deed> all;
    for (std::size_t i = 0; i < keys / keys_of_each; ++i) {
        auto reply = answer;
        if (!answer.is_error()) {
            auto const digit = said.text(0).at(i);
            auto const words = digit == '1' ? "1" : digit == '2' ? "0 1" : "0 0";
            reply = digit == '9' ? value::error("ERR it failed")
                                 : value::bulk(std::string{said.nonce()} + " " + words);
        }
        all.push_back(
            {command[3 + i * keys_of_each],
             holder_of(command[3 + keys + 2 * i + 1]),
             std::move(reply)}
        );
    }
    return all;
}

// The locks of a request for all or none, and the arguments before their holder ids.
std::vector<std::string_view> locks_in(std::vector<std::string_view> const& command) {
    auto const keys = keys_in(command);
    auto const count = command.size() - 3 - keys - 4;
    std::vector<std::string_view> locks;
    for (std::size_t i = 0; i < count; ++i) {
        locks.push_back(command[3 + i * (keys / count)]);
    }
    return locks;
}

// A refusal is about one of them, a grant and an error about all.
std::vector<single_deed> attempts_in(
    std::vector<std::string_view> const& command,
    value const& answer
) {
    auto const first_holder = 3 + keys_in(command) + 3;
    detail::script_reply const said{answer.text};
    bool const all_are_meant = answer.is_error() || said.integer(0) == 1;
    auto const locks = locks_in(command);
    std::vector<single_deed> all;
    for (std::size_t i = 0; i < locks.size(); ++i) {
        if (!all_are_meant && said.integer(1, -1) != static_cast<std::int64_t>(i)) {
            continue;
        }
        auto reply = answer;
        if (!answer.is_error()) {
            reply = value::bulk(std::string{said.nonce()} + " " + std::string{said.text(0)});
            reply.text += all_are_meant ? " " + std::string{said.text(i + 1)} : "";
        }
        all.push_back({locks[i], command[first_holder + i], std::move(reply)});
    }
    return all;
}

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

redis_model& server::data_of(machine& which) {
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
        }
        return hit;
    };
    if (meant(break_before_)) {
        from.close_by_server(asio::error::connection_reset);
        return;
    }
    auto answer = execute(at, &from, from.of_, command, script);
    bool const known = !answer || answer->type != value::kind::error;
    if (known && twice_ && !script.empty() &&
        (twice_->script.empty() || twice_->script == script)) {
        auto const again = *std::exchange(twice_, std::nullopt);
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
    in_.after(after, [this, &at, from, copy, script] {
        words const again{copy.begin(), copy.end()};
        if (at.up) {
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
    bool const may_give = script.ends_with(".acquire") || script.ends_with(".release") ||
                          script == "read_write_lock.force_release";
    bool const several = script == "multi_lock.acquire";
    machine* const stray = &at == primary_ ? nullptr : &at;
    if (before_script && may_give && !stray) {
        for (auto const& lock : several ? locks_in(command) : words{command[3]}) {
            before_script(several ? "lock.acquire" : script, lock);
        }
    }
    auto answer = data_of(at).execute(from ? from->session_ : at.ghost, command);
    if (!script.empty()) {
        note_writes(at);
    }
    if (!script.empty() && answer && on_script) {
        bool const late = !from || from->client_closed_;
        auto const over = from ? from->session_ : 0;
        bool const again = command[0] == "EVAL";
        if (script == "semaphore.renew_many") {
            if (stray) {
                on_script(
                    {script,
                     "renew",
                     {},
                     {},
                     &*answer,
                     process,
                     over,
                     late,
                     again,
                     repeated,
                     stray,
                     false,
                     true}
                );
            }
            if (on_renewed_together) {
                on_renewed_together();
            }
            return answer;
        }
        if (script.ends_with("lock.renew_many")) {
            bool const reads = script.starts_with("read");
            for (auto const& one : renewals_in(command, *answer, reads ? 2 : 1)) {
                on_script(
                    {reads ? "read_lock.renew" : "lock.renew",
                     "renew",
                     one.lock,
                     one.holder,
                     &one.reply,
                     process,
                     over,
                     late,
                     again,
                     repeated,
                     stray,
                     false,
                     true}
                );
            }
            if (on_renewed_together) {
                on_renewed_together();
            }
            return answer;
        }
        if (several) {
            for (auto const& one : attempts_in(command, *answer)) {
                on_script(
                    {"lock.acquire",
                     "acquire",
                     one.lock,
                     one.holder,
                     &one.reply,
                     process,
                     over,
                     late,
                     again,
                     repeated,
                     stray,
                     respects_queue(command),
                     false}
                );
            }
            if (on_taken_together && !answer->is_error()) {
                on_taken_together();
            }
            return answer;
        }
        on_script(
            {script,
             deed_of(command, script),
             command[3],
             holder_in(command, script),
             &*answer,
             process,
             over,
             late,
             again,
             repeated,
             stray,
             respects_queue(command),
             extends(command, script)}
        );
    } else if (command[0] == "SUBSCRIBE" && on_subscribe && !stray) {
        on_subscribe(process, command[1]);
    }
    return answer;
}

}  // namespace holdfast::sim
