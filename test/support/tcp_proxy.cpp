#include "tcp_proxy.hpp"

#include "proxy_engine.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;
using asio::ip::tcp;

tcp_proxy::tcp_proxy(std::uint16_t server_port)
    : engine_{std::make_unique<proxy_engine>(
          tcp::endpoint{asio::ip::address_v4::loopback(), server_port}
      )} {}

tcp_proxy::tcp_proxy(std::string const& server_unix_socket)
    : engine_{
          std::make_unique<proxy_engine>(asio::local::stream_protocol::endpoint{server_unix_socket})
      } {}

tcp_proxy::tcp_proxy(last_words says)
    : engine_{std::make_unique<proxy_engine>(tcp::endpoint{}, std::move(says.text))} {}

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

void tcp_proxy::stop_listening() {
    engine_->call([&] { engine_->stop_listening(); });
}

void tcp_proxy::listen_again() {
    if (auto const error = engine_->call([&] { return engine_->listen(); })) {
        throw boost::system::system_error{error, "a proxy cannot listen again"};
    }
}

void tcp_proxy::after_bytes(
    direction way,
    std::uint64_t count,
    stream_fault fault,
    connection_selector which
) {
    engine_->change([&](fault_plan& plan) {
        plan.add_byte_fault(way, count, fault, which, engine_->records());
    });
}

void tcp_proxy::on_reply(std::uint64_t number, stream_fault fault, connection_selector which) {
    engine_->change([&](fault_plan& plan) {
        plan.add_reply_fault(number, fault, which, engine_->records());
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

std::size_t tcp_proxy::accepted() const {
    return engine_->call([&] { return engine_->accepted(); });
}

std::size_t tcp_proxy::active() const {
    return engine_->call([&] { return engine_->active(); });
}

std::size_t tcp_proxy::in_use() const {
    return engine_->call([&] { return engine_->in_use(); });
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
