#include "redis/server.hpp"

#include <initializer_list>
#include <utility>

namespace holdfast::detail {

namespace {

using purpose = connection_id::purpose;

}  // namespace

server::server(server_context of, backend_events& events) : events_{events} {
    auto const refused = [this](refusal const& what) { events_.on_refused(what); };
    supervisor::events const to{
        .up = [this](connection_id which) { on_up(which); },
        .down = [this](connection_id which) { events_.on_down(which); },
        .failure =
            [this](connection_id which, error_code cause) { events_.on_failure(which, cause); },
        .unconnected =
            [this](connection_id which, error_code cause, std::string_view text) {
                events_.on_unconnected(which, cause, text);
            },
        .refused = refused,
    };
    commands_ = std::make_shared<command_connection>(of, to);
    if (of.settings->replicas.count > 0) {
        // What keeps it from connecting keeps the others from it, too, and they tell of it.
        supervisor::events const beside{
            .up = [this](connection_id) { stays(*replicas_); },
            .down = {},
            .failure = {},
            .unconnected = {},
            .refused = refused,
        };
        replicas_ = std::make_shared<replica_connection>(of, beside, [this] {
            bool const same = commands_->up() && at_the_same(*commands_, *replicas_);
            return same ? commands_->up_since() : lease_clock::time_point::max();
        });
    }
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
// may a Sentinel that is behind. Then releases would be announced where nobody listens, and grants
// confirmed that were made elsewhere: the connections end that were made by the older answer.
bool server::stays(supervisor& newer) {
    constexpr auto why = "the other connection has reached another server";
    for (supervisor* const older : std::initializer_list<supervisor*>{
             commands_.get(),
             subscriptions_.get(),
             replicas_.get()
         }) {
        if (!older || older == &newer || !older->up() || at_the_same(newer, *older)) {
            continue;
        }
        if (newer.version() < older->version()) {
            newer.drop_epoch(why);
            return false;
        }
        older->drop_epoch(why);
    }
    return true;
}

void server::on_up(connection_id which) {
    bool const commands = which.what == purpose::commands;
    // Nobody is told of one that ends at once.
    if (stays(commands ? static_cast<supervisor&>(*commands_) : *subscriptions_)) {
        events_.on_up(which);
    }
}

void server::move_to(config const& there) {
    commands_->move_to(there);
    subscriptions_->move_to(there);
    if (replicas_) {
        replicas_->move_to(there);
    }
}

void server::drop(std::string_view why) {
    commands_->drop_epoch(why);
    if (replicas_) {
        replicas_->drop_epoch(why);
    }
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
    if (replicas_ && !replicas_started_) {
        replicas_->start();
        replicas_started_ = true;
    }
}

void server::stop() {
    commands_->stop();
    subscriptions_->stop();
    if (replicas_) {
        replicas_->stop();
    }
}

void server::exec(call&& what, exec_handler&& handler) {
    commands_->exec(std::move(what), std::move(handler));
}

void server::exec_replicated(call&& what, replication const& wanted, replicated_handler&& handler) {
    replicas_->exec(std::move(what), wanted, std::move(handler));
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
