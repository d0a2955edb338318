#include "soak/resource.hpp"

#include "soak/cell_options.hpp"

#include <holdfast/lease_clock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::soak {

namespace asio = boost::asio;
using local = asio::local::stream_protocol;

namespace {

constexpr auto awaited = asio::use_awaitable;

void rethrow(std::exception_ptr const& failure) {
    if (failure) {
        std::rethrow_exception(failure);
    }
}

class resource {
public:
    explicit resource(resource_options const& options)
        : history_{options.history},
          acceptor_{context_, local::endpoint{options.socket}} {}

    void run() {
        asio::co_spawn(context_, accept(), rethrow);
        std::puts("ready");
        std::fflush(stdout);
        context_.run();
    }

private:
    asio::awaitable<void> accept() {
        for (;;) {
            auto peer = co_await acceptor_.async_accept(awaited);
            asio::co_spawn(context_, serve(std::move(peer)), rethrow);
        }
    }

    asio::awaitable<void> serve(local::socket peer) {
        std::string unread;
        auto buffer = asio::dynamic_buffer(unread);
        for (;;) {
            auto line = asio::async_read_until(peer, buffer, '\n', asio::as_tuple(asio::deferred));
            auto [ended, size] = co_await std::move(line)(awaited);
            if (ended) {
                co_return;  // the peer has closed, or was killed
            }
            auto const answer = carry_out(unread.substr(0, size));
            unread.erase(0, size);
            auto const bytes = asio::buffer(answer);
            auto sent = asio::async_write(peer, bytes, asio::as_tuple(asio::deferred));
            auto [gone, count] = co_await std::move(sent)(awaited);
            if (gone) {
                co_return;
            }
        }
    }

    std::string carry_out(std::string const& request) {
        std::istringstream in{request};
        char what = 0;
        event e;
        store::view seen;
        in >> what >> e.lock >> e.token >> e.process >> e.op;
        if (what == 'w') {
            in >> seen.value >> seen.unguarded;
        }
        if (!in || (what != 'r' && what != 'w')) {
            throw std::runtime_error{"not a request: " + request};
        }
        e.at = lease_clock::now().time_since_epoch().count();
        e.what = what == 'r' ? happening::read : happening::written;
        store::view answer;
        if (what == 'r') {
            answer = store_.read(e.lock, e.token);
            e.flags = answer.accepted ? was_accepted : 0;
        } else {
            e.flags = store_.write(e.lock, e.token, seen);
            answer.accepted = (e.flags & was_accepted) != 0;
        }
        history_.add(e);
        return fmt::format("{:d} {} {}\n", answer.accepted, answer.value, answer.unguarded);
    }

    asio::io_context context_{1};
    store store_;
    history_file history_;
    local::acceptor acceptor_;
};

std::string to_words(access const& by) {
    return fmt::format("{} {} {} {}", by.lock, by.token, by.process, by.op);
}

}  // namespace

void serve_resource(resource_options const& options) {
    resource{options}.run();
}

asio::awaitable<store::view> resource_client::ask(std::string request) {
    try {
        if (!socket_.is_open()) {
            unread_.clear();
            local::endpoint const there{path_};
            co_await socket_.async_connect(there, awaited);
        }
        auto const bytes = asio::buffer(request);
        co_await asio::async_write(socket_, bytes, awaited);
        auto buffer = asio::dynamic_buffer(unread_);
        auto const size = co_await asio::async_read_until(socket_, buffer, '\n', awaited);
        std::istringstream in{unread_.substr(0, size)};
        unread_.erase(0, size);
        store::view answer;
        in >> answer.accepted >> answer.value >> answer.unguarded;
        co_return answer;
    } catch (...) {
        // The answer may come yet: it must not be taken for that to the next request.
        boost::system::error_code ignored;
        socket_.close(ignored);
        throw;
    }
}

asio::awaitable<store::view> resource_client::read(access by) {
    auto request = fmt::format("r {}\n", to_words(by));
    auto answer = ask(std::move(request));
    co_return co_await std::move(answer);
}

asio::awaitable<bool> resource_client::write(access by, store::view seen) {
    auto request = fmt::format("w {} {} {}\n", to_words(by), seen.value, seen.unguarded);
    auto answer = ask(std::move(request));
    auto const view = co_await std::move(answer);
    co_return view.accepted;
}

}  // namespace holdfast::soak
