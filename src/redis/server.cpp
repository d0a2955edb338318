#include "redis/server.hpp"

#include <utility>

namespace holdfast::detail {

using purpose = connection_id::purpose;

server::server(server_context of, backend_events& events) : events_{events} {
    supervisor::events const to{
        .up = [this](connection_id which) { on_up(which); },
        .down = [this](connection_id which) { events_.on_down(which); },
        .failure =
            [this](connection_id which, error_code cause) { events_.on_failure(which, cause); },
    };
    commands_ = std::make_shared<command_connection>(of, to);
    subscriptions_ = std::make_shared<subscription_connection>(std::move(of), to);
}

// Of two connections that are up.
bool server::at_the_same(supervisor const& one, supervisor const& other) {
    if (!one.run_id().empty() && !other.run_id().empty()) {
        return one.run_id() == other.run_id();
    }
    return one.place().host == other.place().host && one.place().port == other.place().port;
}

// A name or a proxy may lead new connections to another server while an old one lives on, and so
// may a Sentinel that is behind. Then releases would be announced where nobody listens: the
// connection ends that was made by the older answer.
void server::on_up(connection_id which) {
    bool const commands = which.what == purpose::commands;
    supervisor& newer = commands ? static_cast<supervisor&>(*commands_) : *subscriptions_;
    supervisor& older = commands ? static_cast<supervisor&>(*subscriptions_) : *commands_;
    if (older.up() && !at_the_same(newer, older)) {
        constexpr auto why = "the other connection has reached another server";
        if (newer.version() < older.version()) {
            newer.drop_epoch(why);
            return;  // nobody is told of it
        }
        older.drop_epoch(why);
    }
    events_.on_up(which);
}

void server::move_to(config const& there) {
    commands_->move_to(there);
    subscriptions_->move_to(there);
}

void server::start() {
    if (!commands_started_) {
        commands_->start();
        commands_started_ = true;
    }
    if (!subscriptions_started_) {
        subscriptions_->start();
        subscriptions_started_ = true;
    }
}

void server::stop() {
    commands_->stop();
    subscriptions_->stop();
}

void server::exec(call&& what, exec_handler&& handler) {
    commands_->exec(std::move(what), std::move(handler));
}

subscription server::subscribe(std::string channel, subscriber& to) {
    return subscriptions_->subscribe(std::move(channel), to);
}

bool server::up(purpose what) const {
    return what == purpose::commands ? commands_->usable() : subscriptions_->up();
}

backend::obstacle server::why_down() const {
    auto const commands = commands_->why_down();
    auto const subscriptions = subscriptions_->why_down();
    if (commands.permanent || (commands.cause && !subscriptions.permanent)) {
        return commands;
    }
    return subscriptions;
}

}  // namespace holdfast::detail
