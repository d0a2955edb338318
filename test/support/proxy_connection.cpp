#include "proxy_connection.hpp"

#include "resp.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

namespace {

using boost::system::error_code;
using std::chrono::steady_clock;

constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

void prepare(proxy_connection::protocol::socket& socket) {
    error_code ignored;  // a unix socket has no such option
    socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
    socket.non_blocking(true, ignored);
}

std::string join(std::vector<std::string> const& words) {
    std::string line;
    for (auto const& word : words) {
        line += (line.empty() ? "" : " ") + word;
    }
    return line;
}

}  // namespace

proxy_connection::proxy_connection(protocol::socket client, std::size_t number, fault_plan& plan)
    : plan_{plan},
      record_{.number = number},
      client_{std::move(client)},
      server_{client_.get_executor()},
      to_server_{
          .way = direction::to_server,
          .from = client_,
          .to = server_,
          .wake = asio::steady_timer{client_.get_executor()}
      },
      to_client_{
          .way = direction::to_client,
          .from = server_,
          .to = client_,
          .wake = asio::steady_timer{client_.get_executor()}
      } {
    prepare(client_);
}

void proxy_connection::start(protocol::endpoint const& server) {
    asio::co_spawn(client_.get_executor(), connect(server), asio::detached);
}

asio::awaitable<void> proxy_connection::connect(protocol::endpoint server) {
    auto const self = shared_from_this();
    auto const [error] = co_await server_.async_connect(server, as_tuple);
    if (closed_) {
        co_return;
    }
    if (error) {
        cut(cut_kind::rst);
        co_return;
    }
    prepare(server_);
    for (auto* p : {&to_server_, &to_client_}) {
        asio::co_spawn(client_.get_executor(), read(*p), asio::detached);
        asio::co_spawn(client_.get_executor(), write(*p), asio::detached);
    }
}

asio::awaitable<void> proxy_connection::read(pipe& p) {
    auto const self = shared_from_this();
    std::array<char, 16384> bytes;
    for (;;) {
        auto const [error, count] = co_await p.from.async_read_some(asio::buffer(bytes), as_tuple);
        if (closed_) {
            co_return;
        }
        if (error) {
            queue(p, message_part{std::exchange(p.unread, {})});
            left_by_client_ = left_by_client_ || p.way == direction::to_server;
            bool const orderly = error == asio::error::eof;
            queue(p, piece{.type = orderly ? piece::kind::end : piece::kind::reset});
            co_return;
        }
        p.unread.append(bytes.data(), count);
        auto messages = take_messages(p);
        if (p.way == direction::to_server) {
            on_commands(std::move(messages));
        } else {
            for (auto& message : messages) {
                if (!closed_) {
                    on_reply(std::move(message));
                }
            }
        }
        if (closed_) {
            co_return;
        }
    }
}

std::vector<std::string> proxy_connection::take_messages(pipe& p) {
    std::vector<std::string> messages;
    for (auto message = take_message(p); !message.empty(); message = take_message(p)) {
        messages.push_back(std::move(message));
    }
    return messages;
}

std::string proxy_connection::take_message(pipe& p) {
    auto size = p.unread.size();
    try {
        size = p.framed ? message_size(p.unread) : size;
    } catch (std::runtime_error const&) {
        p.framed = false;
    }
    auto message = p.unread.substr(0, size);
    p.unread.erase(0, size);
    return message;
}

// What came together is recorded together: a connection is known by all that its first segment
// says before any of it is carried out.
void proxy_connection::on_commands(std::vector<std::string> messages) {
    std::vector<std::vector<std::string>> commands;
    for (auto const& message : messages) {
        commands.push_back(words_of_command(message));
        record_.sent.push_back(join(commands.back()));
    }
    for (std::size_t i = 0; i < messages.size() && !closed_; ++i) {
        on_command(std::move(messages[i]), std::move(commands[i]));
    }
}

void proxy_connection::on_command(std::string message, std::vector<std::string> words) {
    if (plan_.mode(direction::to_server, record_).type == proxy_mode::kind::drop) {
        return;
    }
    auto const fault = plan_.take_command_fault(join(words), record_);
    if (!fault) {
        expected_.command_sent(std::move(words), reply_fate::deliver);
        return queue(to_server_, message_part{std::move(message)});
    }
    switch (*fault) {
        case command_fault::cut_before: return cut(cut_kind::fin);
        case command_fault::lose: return;
        case command_fault::lose_reply: expected_.command_sent(words, reply_fate::lose); break;
        case command_fault::lose_reply_and_cut:
            expected_.command_sent(words, reply_fate::lose_and_cut);
            break;
        case command_fault::drop_replies:
            expected_.command_sent(words, reply_fate::drop_from_here);
            break;
        case command_fault::duplicate:
            expected_.command_sent(words, reply_fate::deliver);
            expected_.command_sent(words, reply_fate::lose);
            queue(to_server_, message_part{message});
            break;
        case command_fault::unknown_script:
            expected_.command_sent(words, reply_fate::deliver);
            words.at(1) = std::string(40, '0');
            message = serialize_command(words);
            break;
    }
    queue(to_server_, message_part{std::move(message)});
}

void proxy_connection::on_reply(std::string message) {
    auto const [command, fate] = expected_.message_came(message);
    if (!is_push(message)) {
        ++record_.replies;
    }
    if (fate == reply_fate::drop_from_here) {
        apply(stream_fault::drop, direction::to_client);
    }
    if (fate == reply_fate::lose_and_cut) {
        cut(cut_kind::fin);
    }
    if (closed_ || fate != reply_fate::deliver ||
        plan_.mode(direction::to_client, record_).type == proxy_mode::kind::drop) {
        return;
    }
    for (auto& part : plan_.rewrite({record_, command, std::move(message)})) {
        queue(to_client_, std::move(part));
    }
}

void proxy_connection::apply(stream_fault fault, direction way) {
    switch (fault) {
        case stream_fault::cut: return cut(cut_kind::fin);
        case stream_fault::reset: return cut(cut_kind::rst);
        case stream_fault::drop:
            plan_.set_mode(way, proxy_mode::drop(), connection_number(record_.number));
            break;
        case stream_fault::stall:
            plan_.set_mode(way, proxy_mode::stall(), connection_number(record_.number));
            break;
    }
    look_again();
}

void proxy_connection::queue(pipe& p, piece what) {
    auto const mode = plan_.mode(p.way, record_);
    if (mode.type == proxy_mode::kind::drop) {
        return;
    }
    what.due = steady_clock::now() + mode.later_by;
    bool const joins = what.type == piece::kind::bytes && mode.later_by.count() == 0 &&
                       !p.queue.empty() && p.queue.back().type == piece::kind::bytes;
    if (joins) {
        p.queue.back().bytes += what.bytes;  // what comes together leaves together
    } else {
        p.queue.push_back(std::move(what));
    }
    p.wake.cancel();
}

void proxy_connection::queue(pipe& p, message_part part) {
    if (auto const* fault = std::get_if<stream_fault>(&part)) {
        queue(p, piece{.type = piece::kind::fault, .fault = *fault});
    } else if (auto* call = std::get_if<std::function<void()>>(&part)) {
        queue(p, piece{.type = piece::kind::call, .call = std::move(*call)});
    } else if (auto& bytes = std::get<std::string>(part); !bytes.empty()) {
        queue(p, piece{.type = piece::kind::bytes, .bytes = std::move(bytes)});
    }
}

asio::awaitable<bool> proxy_connection::wait_for_work(pipe& p) {
    for (;;) {
        if (closed_) {
            co_return false;
        }
        auto const mode = plan_.mode(p.way, record_).type;
        if (mode == proxy_mode::kind::drop) {
            p.queue.clear();  // a piece behind a fault that made this way a black hole
        }
        bool const held = p.queue.empty() || mode == proxy_mode::kind::stall;
        if (!held && p.queue.front().due <= steady_clock::now()) {
            co_return true;
        }
        p.wake.expires_at(held ? steady_clock::time_point::max() : p.queue.front().due);
        co_await p.wake.async_wait(as_tuple);
    }
}

asio::awaitable<void> proxy_connection::write(pipe& p) {
    auto const self = shared_from_this();
    while (co_await wait_for_work(p)) {
        if (happen(p)) {
            continue;
        }
        if (p.queue.front().type != piece::kind::bytes) {
            finish(p);
            co_return;
        }
        auto const fragment = plan_.fragment(p.way, record_);
        auto const& bytes = p.queue.front().bytes;
        auto const part = bytes.substr(0, fragment.most == 0 ? bytes.size() : fragment.most);
        auto const [error, count] = co_await asio::async_write(p.to, asio::buffer(part), as_tuple);
        if (closed_) {
            co_return;
        }
        if (error) {
            cut(cut_kind::rst);
            co_return;
        }
        p.queue.front().bytes.erase(0, part.size());
        if (p.queue.front().bytes.empty()) {
            p.queue.pop_front();
        }
        if (fragment.most != 0) {
            p.wake.expires_after(fragment.pause);
            co_await p.wake.async_wait(as_tuple);
        }
    }
}

// What a rewriter has put between the bytes.
bool proxy_connection::happen(pipe& p) {
    auto const next = p.queue.front().type;
    if (next != piece::kind::fault && next != piece::kind::call) {
        return false;
    }
    auto const what = std::move(p.queue.front());
    p.queue.pop_front();
    if (next == piece::kind::fault) {
        apply(what.fault, p.way);
    } else {
        what.call();
    }
    return true;
}

void proxy_connection::finish(pipe& p) {
    if (p.queue.front().type == piece::kind::reset) {
        return cut(cut_kind::rst);
    }
    error_code ignored;
    p.to.shutdown(protocol::socket::shutdown_send, ignored);
    p.ended = true;
    if (to_server_.ended && to_client_.ended) {
        cut(cut_kind::fin);
    }
}

void proxy_connection::cut(cut_kind kind) {
    if (closed_) {
        return;
    }
    closed_ = true;
    error_code ignored;
    if (kind == cut_kind::rst) {
        client_.set_option(asio::socket_base::linger{true, 0}, ignored);
    } else {
        // Closing a socket with unread bytes sends a reset, and this shall be an orderly end.
        std::array<char, 4096> bytes;
        client_.shutdown(protocol::socket::shutdown_send, ignored);
        while (!ignored && client_.read_some(asio::buffer(bytes), ignored) > 0) {
        }
    }
    client_.close(ignored);
    server_.close(ignored);
    look_again();
}

void proxy_connection::look_again() {
    to_server_.wake.cancel();
    to_client_.wake.cancel();
}

}  // namespace holdfast::test
