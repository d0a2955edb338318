#include "simulation/connection.hpp"

#include "redis/redis_connection.hpp"
#include "simulation/server.hpp"
#include "simulation/world.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/redis/error.hpp>
#include <boost/redis/resp3/node.hpp>
#include <boost/redis/resp3/type.hpp>

#include <algorithm>

namespace holdfast::sim {

namespace {

using boost::redis::resp3::node_view;
using boost::redis::resp3::type;

type resp3_type(value::kind kind) {
    switch (kind) {
        case value::kind::nil: return type::null;
        case value::kind::integer: return type::number;
        case value::kind::bulk: return type::blob_string;
        case value::kind::status: return type::simple_string;
        case value::kind::error: return type::simple_error;
        case value::kind::array: return type::array;
        case value::kind::map: return type::map;
        case value::kind::real: return type::doublean;
        case value::kind::verbatim: return type::verbatim_string;
        case value::kind::push: return type::push;
    }
    return type::invalid;
}

// As the parser's events come: an aggregate, then what is in it.
void parse(value const& what, std::size_t depth, boost::redis::any_adapter& to) {
    bool const aggregate = !what.elements.empty() || what.type == value::kind::array ||
                           what.type == value::kind::map || what.type == value::kind::push;
    node_view node;
    node.data_type = resp3_type(what.type);
    node.depth = depth;
    node.aggregate_size =
        aggregate ? what.elements.size() / (what.type == value::kind::map ? 2U : 1U) : 1U;
    auto const number =
        what.type == value::kind::integer ? std::to_string(what.number) : std::string{};
    node.value =
        what.type == value::kind::integer ? std::string_view{number} : std::string_view{what.text};
    error_code ignored;
    to.on_node(node, ignored);
    for (auto const& element : what.elements) {
        parse(element, depth + 1, to);
    }
}

void deliver(value const& message, boost::redis::any_adapter& to) {
    to.on_init();
    parse(message, 0, to);
    to.on_done();
}

}  // namespace

connection::connection(boost::asio::any_io_executor executor, std::string host)
    : executor_{std::move(executor)},
      of_{&static_cast<process&>(boost::asio::query(executor_, boost::asio::execution::context))},
      host_{std::move(host)} {
    of_->add(*this);
}

// Handlers own what they are handlers of.
void connection::drop() noexcept {
    auto const self = shared_from_this();
    auto const requests = std::exchange(requests_, {});
    auto const running = std::exchange(running_, {});
    auto const receiving = std::exchange(receiving_, {});
    auto const receiver = std::exchange(receiver_, {});
}

connection::~connection() {
    own_business const own;
    of_->remove(*this);
    // Boost.Redis hands out raw pointers to it.
    if (!of_->dying() && (running_ || receiving_ || !requests_.empty())) {
        world::current().violation("a connection was destroyed with operations outstanding");
    }
    if (link_) {
        link_->close_by_client();
    }
}

void connection::run(run_handler handler, boost::redis::config const& endpoint) {
    own_business const own;
    running_ = std::move(handler);
    health_check_ = endpoint.health_check_interval;
    ++epoch_;
    of_->on_connects();
    connecting_ = waits_of(*of_);
    server::current().connect(
        shared_from_this(),
        endpoint.addr.host,
        endpoint.addr.port,
        endpoint.connect_timeout
    );
}

void connection::on_connected(std::shared_ptr<link> established) {
    boost::asio::post(
        executor_,
        [self = shared_from_this(), established = std::move(established), epoch = epoch_] {
            if (!self->running_ || self->epoch_ != epoch) {
                established->close_by_client();
                return;
            }
            self->link_ = established;
            self->of_->on_connected();
            self->write_all();
            self->connecting_.reset();
        }
    );
}

void connection::on_failed(error_code why) {
    boost::asio::post(executor_, [self = shared_from_this(), why, epoch = epoch_] {
        if (self->epoch_ == epoch) {
            self->end_run(why);
        }
    });
}

void connection::exec(
    exec_handler handler,
    boost::redis::request const& request,
    boost::redis::any_adapter adapter
) {
    own_business const own;
    requests_.push_back(
        {&request, std::move(adapter), std::move(handler), request.get_expected_responses()}
    );
    write_all();
}

void connection::write_all() {
    own_business const own;
    if (!link_) {
        return;
    }
    for (auto& one : requests_) {
        if (!one.written) {
            one.set_written(*of_);
            link_->send_to_server(std::string{one.request->payload()});
        }
    }
    // Those that expect no answer are complete once they are written.
    for (auto at = requests_.begin(); at != requests_.end();) {
        if (at->written && at->expected == 0) {
            at->handler.post({}, std::size_t{0});
            at = requests_.erase(at);
        } else {
            ++at;
        }
    }
}

void connection::ping() {
    boost::asio::post(executor_, [self = shared_from_this()] {
        if (self->link_) {
            self->requests_.push_back({nullptr, {}, {}, 1});
            self->requests_.back().set_written(*self->of_);
            self->link_->send_to_server("*2\r\n$4\r\nPING\r\n$8\r\nholdfast\r\n");
        }
    });
}

void connection::receive(run_handler handler) {
    own_business const own;
    receiving_ = std::move(handler);
    if (std::exchange(unread_, false)) {
        receiving_.post({});
    }
}

void connection::on_message(value message) {
    boost::asio::post(
        executor_,
        [self = shared_from_this(), message = std::move(message), from = link_] {
            if (self->link_ && self->link_ == from) {
                self->take(message);
            }
        }
    );
}

void connection::take(value const& message) {
    bool const answers =
        message.type != value::kind::push && !requests_.empty() && requests_.front().written;
    deliver(message, answers ? requests_.front().adapter : receiver_);
    own_business const own;
    if (answers) {
        if (--requests_.front().expected == 0) {
            auto done = std::move(requests_.front());
            requests_.pop_front();
            done.handler.post({}, std::size_t{0});
        }
    } else if (receiving_) {
        receiving_.post({});
    } else {
        unread_ = true;
    }
}

// What was written is aborted; what was not, waits for a run that never comes.
void connection::end_run(error_code why) {
    own_business const own;
    if (link_) {
        std::exchange(link_, {})->close_by_client();
        of_->on_connection_lost();
    } else if (running_) {
        of_->on_not_connected();
    }
    std::deque<pending> kept;
    for (auto& one : std::exchange(requests_, {})) {
        if (one.written) {
            one.handler.post(boost::asio::error::operation_aborted, std::size_t{0});
        } else {
            kept.push_back(std::move(one));
        }
    }
    requests_ = std::move(kept);
    connecting_.reset();
    running_.post(why);
}

void connection::cancel(boost::redis::operation what) {
    own_business const own;
    using boost::redis::operation;
    bool const all = what == operation::all;
    if (all || what == operation::exec) {
        for (auto& one : std::exchange(requests_, {})) {
            one.handler.post(boost::asio::error::operation_aborted, std::size_t{0});
        }
    }
    if (all || what == operation::receive) {
        receiving_.post(boost::asio::error::operation_aborted);
    }
    if (all || what == operation::run) {
        end_run(boost::asio::error::operation_aborted);
    }
}

}  // namespace holdfast::sim

namespace holdfast::detail {

std::shared_ptr<redis_connection>
make_redis_connection(boost::asio::any_io_executor const& executor, config const& settings, tls_trust&) {
    return std::make_shared<redis_connection>(executor, settings.host);
}

}  // namespace holdfast::detail
