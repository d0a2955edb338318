#include "fidelity/server_link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace holdfast::test {

using memory::value;

namespace {

[[noreturn]] void fail(char const* what) {
    throw std::system_error{errno, std::generic_category(), what};
}

std::int64_t to_number(std::string_view text) {
    std::int64_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw std::runtime_error{"not a number in RESP: " + std::string{text}};
    }
    return number;
}

void append(std::string& to, char type, std::size_t number) {
    char digits[24];
    auto const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    to += type;
    to.append(digits, end);
    to += "\r\n";
}

}  // namespace

server_link::server_link(std::string const& unix_socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (unix_socket.size() >= sizeof address.sun_path) {
        throw std::invalid_argument{"the socket's path is too long: " + unix_socket};
    }
    std::memcpy(address.sun_path, unix_socket.c_str(), unix_socket.size() + 1);
    descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor_ < 0) {
        fail("socket");
    }
    if (::connect(descriptor_, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0) {
        ::close(std::exchange(descriptor_, -1));
        fail("connect");
    }
}

server_link::~server_link() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void server_link::add(std::span<std::string_view const> words) {
    append(unsent_, '*', words.size());
    for (auto const word : words) {
        append(unsent_, '$', word.size());
        unsent_ += word;
        unsent_ += "\r\n";
    }
    ++expected_;
}

void server_link::add(std::initializer_list<std::string_view> words) {
    add(std::span{words.begin(), words.size()});
}

void server_link::add(std::vector<std::string> const& words) {
    std::vector<std::string_view> const views{words.begin(), words.end()};
    add(std::span{views});
}

void server_link::send() {
    std::string_view rest{unsent_};
    while (!rest.empty()) {
        auto const count = ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            fail("sending to the server");
        }
        rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    unsent_.clear();
    expected_ = 0;
}

std::vector<value> server_link::exchange() {
    auto const count = expected_;
    send();
    std::vector<value> replies;
    while (replies.size() < count) {
        auto message = receive();
        (message.type == value::kind::push ? pushes_ : replies).push_back(std::move(message));
    }
    return replies;
}

value server_link::ask(std::initializer_list<std::string_view> words) {
    add(words);
    return std::move(exchange().back());
}

std::vector<value> server_link::take_pushes() {
    return std::exchange(pushes_, {});
}

value server_link::receive() {
    auto message = parse();
    // Views of what was read are gone by now.
    constexpr std::size_t worth_it = 1 << 16;
    if (position_ == unread_.size() || position_ > worth_it) {
        unread_.erase(0, std::exchange(position_, 0));
    }
    return message;
}

void server_link::fill() {
    constexpr auto milliseconds =
        static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(limit).count());
    pollfd look{.fd = descriptor_, .events = POLLIN, .revents = 0};
    int const ready = ::poll(&look, 1, milliseconds);
    if (ready == 0) {
        throw std::runtime_error{"the server is silent"};
    }
    char bytes[1 << 16];
    auto const count = ready < 0 ? -1 : ::recv(descriptor_, bytes, sizeof bytes, 0);
    if (count == 0) {
        throw std::runtime_error{"the server closed the connection"};
    }
    if (count < 0 && errno != EINTR) {
        fail("receiving from the server");
    }
    unread_.append(bytes, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
}

std::string_view server_link::line() {
    auto end = unread_.find("\r\n", position_);
    while (end == std::string::npos) {
        fill();
        end = unread_.find("\r\n", position_);
    }
    std::string_view const text{unread_.data() + position_, end - position_};
    position_ = end + 2;
    return text;
}

std::string_view server_link::bytes(std::size_t count) {
    while (unread_.size() < position_ + count + 2) {
        fill();
    }
    std::string_view const text{unread_.data() + position_, count};
    position_ += count + 2;
    return text;
}

value server_link::parse() {
    auto const header = line();
    if (header.empty()) {
        throw std::runtime_error{"an empty line is not RESP"};
    }
    char const type = header.front();
    auto const rest = header.substr(1);
    switch (type) {
        case '+': return value::status(rest);
        case '-': return value::error(rest);
        case ':': return value::integer(to_number(rest));
        case ',': return value::real(rest);
        case '_': return value::nil();
        default: break;
    }
    auto const count = to_number(rest);
    if (count < 0) {
        return value::nil();
    }
    auto const size = static_cast<std::size_t>(count);
    switch (type) {
        case '$': return value::bulk(bytes(size));
        case '=': return value::verbatim(bytes(size).substr(4));
        case '*':
        case '>':
        case '%': break;
        default: throw std::runtime_error{std::string{"unexpected RESP type "} + type};
    }
    auto message = value::array();
    message.type = type == '*'   ? value::kind::array
                   : type == '>' ? value::kind::push
                                 : value::kind::map;
    auto const elements = type == '%' ? 2 * size : size;
    for (std::size_t i = 0; i < elements; ++i) {
        message.elements.push_back(parse());
    }
    return message;
}

}  // namespace holdfast::test
