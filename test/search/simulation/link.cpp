#include "simulation/link.hpp"

#include "simulation/connection.hpp"
#include "simulation/machine.hpp"
#include "simulation/server.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

link::link(server& to, machine& at, std::shared_ptr<connection> const& client)
    : to_{to},
      at_{at},
      client_{client},
      of_{client->of().number()},
      health_check_{client->health_check_interval()} {}

template <class F>
void link::send(direction which, F what) {
    auto& on = way(which);
    if (on.black_hole) {
        return;
    }
    auto& route = to_.route_of(of_);
    auto go = [self = shared_from_this(), which, what = std::move(what)]() mutable {
        auto& stream = self->way(which);
        auto& w = self->to_.in();
        auto const arrival = w.now() + self->to_.delay(self->to_.route_of(self->of_));
        stream.last_arrival = std::max(arrival, stream.last_arrival + 1ns);
        w.at(
            stream.last_arrival,
            [self, which, what = std::move(what)]() mutable {
                if (!self->way(which).black_hole) {
                    what(*self);
                }
            },
            {which == direction::to_server ? site::server : self->of_, &stream}
        );
    };
    if (route.stalled(which)) {
        route.held(which).emplace_back(std::move(go));
    } else {
        go();
    }
}

void link::send_to_server(std::string bytes) {
    if (!open()) {
        return;
    }
    auto& w = to_.in();
    w.mark(bytes);
    ++under_way_;
    send(direction::to_server, [bytes = std::move(bytes)](link& self) mutable {
        --self.under_way_;
        self.arrive_at_server(std::move(bytes));
    });
}

void link::arrive_at_server(std::string bytes) {
    if (server_closed_ || rest_is_lost_) {
        end_session();
        return;
    }
    if (rest_is_late_by_ > 0ns) {
        ++under_way_;
        to_.in().after(
            rest_is_late_by_,
            [self = shared_from_this(), bytes = std::move(bytes)]() mutable {
                --self->under_way_;
                self->at_server_.push_back(std::move(bytes));
                self->to_.on_bytes(*self);
            }
        );
        return;
    }
    at_server_.push_back(std::move(bytes));
    to_.on_bytes(*this);
}

void link::send_to_client(value message) {
    if (!open()) {
        return;
    }
    if (message.type == value::kind::push) {
        if (message.elements.size() == 3 && message.elements[2].text.starts_with("grant ")) {
            transmit_grant(std::move(message));
        } else {
            transmit(std::move(message));
        }
        return;
    }
    if (answer_fault_ != answer_fault::none && to_.clients_idle_) {
        // Health checks go on; only now do their answers matter.
        auto const soon = health_check_ + to_.in().dice().time(0ns, health_check_);
        to_.in().after(soon, [client = client_] {
            if (auto const still = client.lock()) {
                still->ping();
            }
        });
    }
    auto const fault = std::exchange(answer_fault_, answer_fault::none);
    if (fault != answer_fault::none) {
        to_.tell_of_fault();
    }
    switch (fault) {
        case answer_fault::none: break;
        case answer_fault::drop: return;
        case answer_fault::duplicate: transmit(message); break;
        case answer_fault::insert: transmit(value::array({value::bulk("1")})); break;
        case answer_fault::swap: kept_back_ = std::move(message); return;
    }
    transmit(std::move(message));
    if (kept_back_) {
        transmit(*std::exchange(kept_back_, std::nullopt));
    }
}

void link::transmit_grant(value message) {
    auto const by = to_.grant_fault_by_;
    auto const until = to_.in().now() + by;
    auto const fault = std::exchange(to_.grant_fault_, grant_fault::none);
    if (fault != grant_fault::none) {
        to_.tell_of_fault();
    }
    switch (fault) {
        case grant_fault::none: break;
        case grant_fault::late: down_.last_arrival = std::max(down_.last_arrival, until); break;
        case grant_fault::early:
            for (auto const& one : to_.links()) {
                if (one->of_ == of_ && one->for_commands_) {
                    one->down_.last_arrival = std::max(one->down_.last_arrival, until);
                }
            }
            break;
        case grant_fault::lost:
            to_.on_grant_lost();
            // Not now: a script runs.
            to_.in().after(0ns, [self = shared_from_this()] {
                self->close_by_server(asio::error::connection_reset);
            });
            return;
        case grant_fault::repeated:
            to_.in().after(by, [self = shared_from_this(), message] {
                if (self->open()) {
                    self->transmit(message);
                }
            });
            break;
    }
    transmit(std::move(message));
}

void link::transmit(value message) {
    send(direction::to_client, [message = std::move(message)](link& self) mutable {
        self.last_contact_ = self.to_.in().now();
        if (auto const client = self.client_.lock(); client && !self.client_closed_) {
            self.to_.in().mark(message.text);
            if (self.to_.on_answer && !self.at_.is_sentinel) {
                self.to_.on_answer(self.of_, message);
            }
            client->on_message(std::move(message));
        }
    });
}

void link::close_by_client() {
    if (std::exchange(client_closed_, true) || server_closed_) {
        return;
    }
    auto& w = to_.in();
    rest_is_lost_ = w.chance(50, choice::late);
    if (!rest_is_lost_ && w.chance(30, choice::late)) {
        rest_is_late_by_ = w.dice().any_scale(1ms, 5s);
    }
    // The server learns of it in order, after what was sent before.
    ++under_way_;
    send(direction::to_server, [](link& self) {
        --self.under_way_;
        self.end_session();
    });
}

void link::close_by_server(error_code what_the_client_sees) {
    if (std::exchange(server_closed_, true)) {
        return;
    }
    at_server_.clear();
    end_session();
    watch_health();  // it may never hear of it
    send(direction::to_client, [what_the_client_sees](link& self) {
        self.fail_at_client(what_the_client_sees);
    });
}

void link::fail_at_client(error_code why) {
    if (auto const client = client_.lock(); client && !client_closed_) {
        client->on_failed(why);
    }
}

void link::end_session() {
    bool const over = server_closed_ ||
                      (client_closed_ && at_server_.empty() && (under_way_ == 0 || rest_is_lost_));
    if (over && !std::exchange(session_ended_, true)) {
        at_.data.disconnect(session_);
    }
}

bool link::silent() {
    auto const& route = to_.route_of(of_);
    return server_closed_ || at_.paused || at_.pings_fail || up_.black_hole || down_.black_hole ||
           route.stalled_to_server || route.stalled_to_client;
}

void link::watch_health() {
    if (watching_ || client_closed_) {
        return;
    }
    watching_ = true;
    watch_health_since(to_.in().now());
}

void link::watch_health_since(nanos contact) {
    auto& w = to_.in();
    auto const limit = 2 * health_check_ + w.dice().time(0ns, health_check_);
    w.at(contact + limit, [self = shared_from_this(), contact] { self->check_health(contact); });
}

void link::check_health(nanos since) {
    if (client_closed_ || !silent()) {
        watching_ = false;
        return;
    }
    if (last_contact_ > since && !at_.pings_fail) {
        watch_health_since(last_contact_);
        return;
    }
    watching_ = false;
    if (auto const client = client_.lock()) {
        client->on_failed(asio::error::timed_out);
    }
}

}  // namespace holdfast::sim
