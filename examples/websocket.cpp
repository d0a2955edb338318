// A WebSocket server, with Boost.Beast: whoever holds the document's lock may write to it. Two
// servers share the lock, as they would on two machines. Three editors connect to them; the second
// one's connection breaks while it writes, and the third goes on at once.
//
// An editor says `edit` to ask for the lock. When the server has answered `yours`, each further
// message is a line for the document, until `done` gives the lock back.
#include "main.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/system/system_error.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using namespace asio::experimental::awaitable_operators;
using error_code = holdfast::error_code;

constexpr auto no_throw = asio::as_tuple(asio::deferred);

/// Stands for a store that both servers write to. It refuses a former holder of the lock.
class document {
public:
    bool append(std::string line, holdfast::fencing_token token) {
        if (token < last_token_) {
            return false;
        }
        last_token_ = token;
        lines_.push_back(std::move(line));
        return true;
    }

    std::vector<std::string> const& lines() const { return lines_; }

private:
    std::vector<std::string> lines_;
    holdfast::fencing_token last_token_;
};

/// One end of a WebSocket that carries text.
class text_stream {
public:
    explicit text_stream(tcp::socket socket) : stream_{std::move(socket)} {}

    asio::awaitable<void> accept() { co_await stream_.async_accept(asio::deferred); }
    asio::awaitable<void> connect(tcp::endpoint server) {
        co_await stream_.next_layer().async_connect(server, asio::deferred);
        co_await stream_.async_handshake("localhost", "/", asio::deferred);
    }
    asio::awaitable<void> close() {
        co_await stream_.async_close(websocket::close_code::normal, asio::deferred);
    }
    /// Breaks the connection, as a cable that is pulled does.
    void drop() { stream_.next_layer().close(); }

    asio::awaitable<void> say(std::string_view text) {
        co_await stream_.async_write(asio::buffer(text), asio::deferred);
    }
    /// The next message, or an empty one when the connection has ended.
    asio::awaitable<std::string> hear() {
        beast::flat_buffer buffer;
        auto const [ec, size] = co_await stream_.async_read(buffer, no_throw);
        std::string message;
        if (!ec) {
            message = beast::buffers_to_string(buffer.data());
        }
        co_return message;
    }

private:
    websocket::stream<tcp::socket> stream_;
};

/// What a server does for one editor. One coroutine reads, all the time, so that the end of the
/// connection is noticed; the other one waits for the lock, holds it, and answers.
class session {
public:
    session(tcp::socket socket, holdfast::lock lock, std::shared_ptr<document> text)
        : messages_{socket.get_executor(), 16},
          stream_{std::move(socket)},
          lock_{std::move(lock)},
          text_{std::move(text)} {}

    asio::awaitable<void> run() {
        co_await stream_.accept();
        // Whichever ends first cancels the other. So a connection that ends takes a waiter out of
        // the queue for the lock, and has a holder's lease released.
        co_await (read() || take_turns());
    }

private:
    asio::awaitable<void> read() {
        for (;;) {
            auto message = co_await stream_.hear();
            if (message.empty()) {
                co_return;
            }
            co_await messages_.async_send(error_code{}, std::move(message), asio::deferred);
        }
    }

    asio::awaitable<void> take_turns() {
        auto turn = [this](holdfast::lease& lease) { return write(lease); };
        for (;;) {
            auto const message = co_await messages_.async_receive(asio::deferred);
            if (message != "edit") {
                co_await stream_.say("say edit first");
                continue;
            }
            std::string result = "thank you";
            try {
                co_await holdfast::with_lease(lock_, turn);
            } catch (boost::system::system_error const& e) {
                if (e.code() == asio::error::operation_aborted) {
                    throw;  // the connection has ended
                }
                result = e.code().message();  // such as a lease that was lost
            }
            co_await stream_.say(result);
        }
    }

    asio::awaitable<void> write(holdfast::lease& lease) {
        co_await stream_.say("yours");
        for (;;) {
            auto message = co_await messages_.async_receive(asio::deferred);
            if (message == "done") {
                co_return;
            }
            bool const written = text_->append(std::move(message), lease.token());
            std::string_view const answer = written ? "saved" : "too late";
            co_await stream_.say(answer);
        }
    }

    asio::experimental::channel<void(error_code, std::string)> messages_;
    text_stream stream_;
    holdfast::lock lock_;
    std::shared_ptr<document> text_;
};

asio::awaitable<void> serve(
    tcp::socket socket,
    holdfast::lock lock,
    std::shared_ptr<document> text
) {
    session editor{std::move(socket), std::move(lock), std::move(text)};
    co_await editor.run();
}

/// A server, with a client of its own.
class server {
public:
    server(asio::any_io_executor executor, holdfast::config config, std::shared_ptr<document> text)
        : client_{executor, std::move(config)},
          acceptor_{executor, {asio::ip::address_v4::loopback(), 0}},
          text_{std::move(text)} {}

    tcp::endpoint address() const { return acceptor_.local_endpoint(); }
    void stop() { acceptor_.close(); }

    asio::awaitable<void> accept() {
        for (;;) {
            auto [ec, socket] = co_await acceptor_.async_accept(no_throw);
            if (ec) {
                co_return;
            }
            auto executor = socket.get_executor();
            auto one = serve(std::move(socket), client_.lock("document"), text_);
            asio::co_spawn(executor, std::move(one), asio::detached);
        }
    }

private:
    holdfast::client client_;
    tcp::acceptor acceptor_;
    std::shared_ptr<document> text_;
};

asio::awaitable<void> add_line(text_stream& stream, std::string_view line) {
    co_await stream.say(line);
    auto const answer = co_await stream.hear();
    expect(answer == "saved", "a holder's line was refused");
}

asio::awaitable<void> wait_for_turn(text_stream& stream) {
    auto const answer = co_await stream.hear();
    expect(answer == "yours", "an editor did not get the lock");
}

asio::awaitable<void> write_and_leave(text_stream& stream, std::string_view name) {
    for (int i = 1; i <= 3; ++i) {
        auto const line = fmt::format("{}: line {}", name, i);
        co_await add_line(stream, line);
    }
    co_await stream.say("done");
    auto const answer = co_await stream.hear();
    expect(answer == "thank you", "an editor could not give the lock back");
    co_await stream.close();
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    auto text = std::make_shared<document>();
    server here{executor, config, text};
    server there{executor, config, text};

    auto edit = [&]() -> asio::awaitable<void> {
        text_stream ada{tcp::socket{executor}};
        text_stream grace{tcp::socket{executor}};
        text_stream linus{tcp::socket{executor}};
        co_await ada.connect(here.address());
        co_await grace.connect(there.address());
        co_await linus.connect(here.address());

        co_await ada.say("edit");
        co_await wait_for_turn(ada);
        co_await grace.say("edit");
        co_await (write_and_leave(ada, "Ada") && wait_for_turn(grace));

        co_await linus.say("edit");
        co_await add_line(grace, "Grace: line 1");
        grace.drop();
        auto const dropped = std::chrono::steady_clock::now();
        co_await wait_for_turn(linus);
        auto const waited = std::chrono::steady_clock::now() - dropped;
        expect(waited < config.lease / 2, "the lock of a broken connection was not released");
        co_await write_and_leave(linus, "Linus");
        here.stop();
        there.stop();
    };
    co_await (here.accept() && there.accept() && edit());

    // Nobody wrote between the lines of another.
    std::size_t writers = 0;
    std::string last;
    for (auto const& line : text->lines()) {
        fmt::print("{}\n", line);
        auto name = line.substr(0, line.find(':'));
        writers += name == last ? 0 : 1;
        last = std::move(name);
    }
    expect(text->lines().size() == 7 && writers == 3, "somebody wrote without the lock");
}
