#include "support/foreign/connection.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <exception>
#include <string_view>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

using reply_handler = asio::any_completion_handler<void(error_code, redis_value)>;

void answer(reply_handler to, error_code ec, redis_value reply) {
    if (to) {
        asio::dispatch(asio::append(std::move(to), ec, std::move(reply)));
    }
}

}  // namespace

struct foreign_connection::state : std::enable_shared_from_this<state> {
    state(asio::any_io_executor const& executor, listener to)
        : socket{executor},
          listens{std::move(to)} {}

    void ask(std::vector<std::string> const& words, reply_handler handler) {
        if (failure) {
            answer(std::move(handler), failure, {});
            return;
        }
        if (!listens) {
            unanswered.push_back(std::move(handler));
        }
        unsent += serialize_command(words);
        write();
    }

    void write() {
        if (!in_flight.empty() || unsent.empty() || failure) {
            return;
        }
        in_flight.swap(unsent);
        asio::async_write(
            socket,
            asio::buffer(in_flight),
            [self = shared_from_this()](error_code ec, std::size_t) {
                self->in_flight.clear();
                if (ec) {
                    self->fail(ec);
                }
                self->write();
            }
        );
    }

    void read() {
        socket.async_read_some(
            asio::buffer(chunk),
            [self = shared_from_this()](error_code ec, std::size_t size) {
                if (ec) {
                    self->fail(ec);
                    return;
                }
                self->unread.append(self->chunk.data(), size);
                try {
                    self->take_messages();
                } catch (std::exception const&) {
                    self->fail(asio::error::invalid_argument);
                }
                if (!self->failure) {
                    self->read();
                }
            }
        );
    }

    void take_messages() {
        // What a message wakes may end this connection.
        while (!failure) {
            auto const size = message_size(unread);
            if (size == 0) {
                return;
            }
            auto rest = std::string_view{unread}.substr(0, size);
            auto message = parse_message(rest);
            unread.erase(0, size);
            take(std::move(message));
        }
    }

    void take(redis_value message) {
        if (listens) {
            // A copy: it may be taken away meanwhile.
            auto const to = listens;
            to(message);
        } else if (!unanswered.empty()) {
            auto handler = std::move(unanswered.front());
            unanswered.pop_front();
            answer(std::move(handler), {}, std::move(message));
        }
    }

    void fail(error_code ec) {
        if (failure) {
            return;
        }
        failure = ec;
        error_code ignored;
        socket.close(ignored);
        for (auto& handler : std::exchange(unanswered, {})) {
            answer(std::move(handler), ec, {});
        }
    }

    asio::local::stream_protocol::socket socket;
    listener listens;
    error_code failure;
    std::deque<reply_handler> unanswered;  // empty ones for replies that nobody waits for
    std::string unsent;
    std::string in_flight;
    std::array<char, 4096> chunk{};
    std::string unread;
};

foreign_connection::foreign_connection(
    asio::any_io_executor executor,
    foreign_server const& where,
    listener listens
)
    : state_{std::make_shared<state>(executor, std::move(listens))} {
    state_->socket.connect(asio::local::stream_protocol::endpoint{where.unix_socket});
    state_->read();
    if (!where.password.empty()) {
        // A refusal shows with the next command.
        send({"AUTH", where.user.empty() ? "default" : where.user, where.password});
    }
}

foreign_connection::~foreign_connection() {
    close();
}

void foreign_connection::close() {
    state_->listens = {};
    state_->fail(asio::error::operation_aborted);
}

asio::awaitable<redis_value> foreign_connection::command(std::vector<std::string> const& words) {
    // Named: GCC 12 destroys some temporaries of a co_await expression twice.
    auto initiate = [this, &words](auto handler) { state_->ask(words, std::move(handler)); };
    auto reply =
        co_await asio::async_initiate<asio::use_awaitable_t<> const, void(error_code, redis_value)>(
            initiate,
            asio::use_awaitable
        );
    co_return reply;
}

void foreign_connection::send(std::vector<std::string> const& words) {
    state_->ask(words, {});
}

}  // namespace holdfast::test
