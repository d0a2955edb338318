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

// A name or a proxy may lead new connections to another server while an old one lives on. Then
// releases would be announced where nobody listens: the older connection ends.
void server::on_up(connection_id which) {
    bool const commands = which.what == purpose::commands;
    supervisor& newer = commands ? static_cast<supervisor&>(*commands_) : *subscriptions_;
    supervisor& older = commands ? static_cast<supervisor&>(*subscriptions_) : *commands_;
    bool const known = !newer.run_id().empty() && !older.run_id().empty();
    if (older.up() && known && newer.run_id() != older.run_id()) {
        older.drop_epoch("the other connection has reached another server");
    }
    events_.on_up(which);
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

backend::identity server::who() const {
    return {commands_->run_id(), commands_->began_by()};
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
