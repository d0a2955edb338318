#include "tcp_proxy.hpp"

#include "fault_plan.hpp"
#include "proxy_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// The thread of a proxy, with all that lives on it. Everything but the constructor, the
/// destructor, `port`, `call` and `change` is for functions that `call` and `change` run.
class tcp_proxy::engine {
public:
    explicit engine(
        proxy_connection::protocol::endpoint server,
        std::optional<std::string> turns_away = {}
    );
    engine(engine const&) = delete;
    engine& operator=(engine const&) = delete;
    ~engine();

    std::uint16_t port() const { return port_; }

    /// Runs `f` on the thread, and waits for its result.
    template <class F>
    auto call(F f) {
        return asio::dispatch(context_, asio::use_future(std::move(f))).get();
    }

    /// Lets `f` change the plan; those who act by the plan then look at it again.
    template <class F>
    void change(F f) {
        call([this, &f] {
            f(plan_);
            look_again();
        });
    }

    /// A new connection is told this and closed; nothing: it is accepted.
    void turn_away(std::optional<std::string> words) { turns_away_ = std::move(words); }
    void lead_to(proxy_connection::protocol::endpoint server) { server_ = std::move(server); }
    void cut(cut_kind kind, connection_selector const& which);
    void forget_closed();

    std::vector<connection_record const*> records() const;
    template <class Condition>
    std::size_t count(Condition condition) const;
    std::size_t refused() const { return refused_; }
    std::size_t pending_faults() const { return plan_.pending(); }

private:
    asio::awaitable<void> accept();
    void look_again();

    proxy_connection::protocol::endpoint server_;
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
    std::uint16_t port_;
    fault_plan plan_;
    std::vector<std::shared_ptr<proxy_connection>> connections_;  // closed ones too
    std::optional<std::string> turns_away_;
    std::size_t accepted_ = 0;
    std::size_t refused_ = 0;
    std::thread thread_;
};

tcp_proxy::engine::engine(
    proxy_connection::protocol::endpoint server,
    std::optional<std::string> turns_away
)
    : server_{std::move(server)},
      work_{asio::make_work_guard(context_)},
      port_{acceptor_.local_endpoint().port()},
      turns_away_{std::move(turns_away)} {
    asio::co_spawn(context_, accept(), asio::detached);
    thread_ = std::thread{[this] { context_.run(); }};
}

tcp_proxy::engine::~engine() {
    call([this] {
        error_code ignored;
        acceptor_.close(ignored);
        cut(cut_kind::fin, {});
        work_.reset();  // the coroutines end, and the thread with them
    });
    thread_.join();
}

asio::awaitable<void> tcp_proxy::engine::accept() {
    constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
    while (acceptor_.is_open()) {
        auto [error, socket] = co_await acceptor_.async_accept(as_result);
        if (error || !acceptor_.is_open()) {
            continue;
        }
        if (turns_away_) {
            ++refused_;
            auto const words = *turns_away_;
            co_await asio::async_write(socket, asio::buffer(words), as_result);
            continue;
        }
        connections_.push_back(
            std::make_shared<proxy_connection>(std::move(socket), ++accepted_, plan_)
        );
        connections_.back()->start(server_);
    }
}

void tcp_proxy::engine::cut(cut_kind kind, connection_selector const& which) {
    for (auto const& connection : connections_) {
        if (which.matches(connection->record())) {
            connection->cut(kind);
        }
    }
}

void tcp_proxy::engine::forget_closed() {
    std::erase_if(connections_, [this](auto const& connection) {
        if (!connection->active()) {
            plan_.forget(connection->record().number);
        }
        return !connection->active();
    });
}

void tcp_proxy::engine::look_again() {
    for (auto const& connection : connections_) {
        connection->look_again();
    }
}

std::vector<connection_record const*> tcp_proxy::engine::records() const {
    std::vector<connection_record const*> all;
    for (auto const& connection : connections_) {
        all.push_back(&connection->record());
    }
    return all;
}

template <class Condition>
std::size_t tcp_proxy::engine::count(Condition condition) const {
    return static_cast<std::size_t>(std::ranges::count_if(connections_, condition));
}

// Orders and looks

tcp_proxy::tcp_proxy(std::uint16_t server_port)
    : engine_{std::make_unique<engine>(tcp::endpoint{asio::ip::address_v4::loopback(), server_port})
      } {}

tcp_proxy::tcp_proxy(std::string const& server_unix_socket)
    : engine_{std::make_unique<engine>(asio::local::stream_protocol::endpoint{server_unix_socket})
      } {}

tcp_proxy::tcp_proxy(last_words says)
    : engine_{std::make_unique<engine>(tcp::endpoint{}, std::move(says.text))} {}

tcp_proxy::~tcp_proxy() = default;

std::uint16_t tcp_proxy::port() const {
    return engine_->port();
}

std::string tcp_proxy::url() const {
    return "redis://127.0.0.1:" + std::to_string(port());
}

std::string tcp_proxy::tls_url() const {
    return "rediss://localhost:" + std::to_string(port());
}

void tcp_proxy::set_mode(direction way, proxy_mode mode, connection_selector which) {
    engine_->change([&](fault_plan& plan) { plan.set_mode(way, mode, which); });
}

void tcp_proxy::set_mode(proxy_mode mode, connection_selector which) {
    engine_->change([&](fault_plan& plan) {
        plan.set_mode(direction::to_server, mode, which);
        plan.set_mode(direction::to_client, mode, which);
    });
}

void tcp_proxy::fragment(direction way, std::size_t size, connection_selector which) {
    fragment(way, fragments{.least = size, .most = size}, std::move(which));
}

void tcp_proxy::fragment(direction way, fragments sizes, connection_selector which) {
    engine_->change([&](fault_plan& plan) { plan.set_fragments(way, sizes, which); });
}

void tcp_proxy::rewrite_messages(message_rewriter rewriter, connection_selector which) {
    engine_->change([&](fault_plan& plan) { plan.set_rewriter(rewriter, which); });
}

void tcp_proxy::edit_replies(
    std::function<std::string(std::string)> editor,
    connection_selector which
) {
    message_rewriter rewriter;
    if (editor) {
        rewriter = [editor = std::move(editor)](server_message message) {
            return message_parts{editor(std::move(message.bytes))};
        };
    }
    rewrite_messages(std::move(rewriter), std::move(which));
}

void tcp_proxy::cut(cut_kind kind, connection_selector which) {
    engine_->call([&] { engine_->cut(kind, which); });
}

void tcp_proxy::forget_closed() {
    engine_->call([&] { engine_->forget_closed(); });
}

void tcp_proxy::refuse_new(bool refuse) {
    engine_->call([&] { engine_->turn_away(refuse ? std::optional{std::string{}} : std::nullopt); }
    );
}

void tcp_proxy::turn_away(last_words says) {
    engine_->call([&] { engine_->turn_away(std::move(says.text)); });
}

void tcp_proxy::lead_to(std::string const& server_unix_socket) {
    engine_->call([&] {
        engine_->lead_to(asio::local::stream_protocol::endpoint{server_unix_socket});
    });
}

void tcp_proxy::when_client_sends(
    std::string text,
    command_fault fault,
    connection_selector which
) {
    engine_->change([&](fault_plan& plan) { plan.add_command_fault(text, fault, which); });
}

std::size_t tcp_proxy::pending_faults() const {
    return engine_->call([&] { return engine_->pending_faults(); });
}

std::size_t tcp_proxy::active() const {
    return engine_->call([&] {
        return engine_->count([](auto const& each) { return each->active(); });
    });
}

std::size_t tcp_proxy::in_use() const {
    return engine_->call([&] {
        return engine_->count([](auto const& each) {
            return each->active() && !each->left_by_client();
        });
    });
}

std::size_t tcp_proxy::refused() const {
    return engine_->call([&] { return engine_->refused(); });
}

std::vector<std::string> tcp_proxy::commands(connection_selector which) const {
    return engine_->call([&] {
        std::vector<std::string> lines;
        for (auto const* record : engine_->records()) {
            if (which.matches(*record)) {
                lines.insert(lines.end(), record->sent.begin(), record->sent.end());
            }
        }
        return lines;
    });
}

std::size_t tcp_proxy::commands_with(std::string const& text) const {
    auto const lines = commands();
    return static_cast<std::size_t>(std::count_if(
        lines.begin(),
        lines.end(),
        [&](std::string const& line) { return line.find(text) != std::string::npos; }
    ));
}

}  // namespace holdfast::test
